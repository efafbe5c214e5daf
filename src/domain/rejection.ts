// A refusal with a stable code, which errors.ts maps to an HTTP status. The refusal of a body names every field that
// its schema or the rules refuse.

import { member } from './json.js'

/** Every problem of every field; paths have dots: `post_call_schema.0.name`. */
export type FieldErrors = Record<string, string[]>

export type RejectionCode =
  | 'invalid'
  | 'assistant-not-found'
  | 'id-taken'
  | 'not-found'
  | 'revision-mismatch'
  | 'call-differs'
  | 'catalog-conflict'
  | 'too-large'
  | 'webhook-refused'
  | 'not-ready'
  | 'gone'
  /** The user has too much of this kind under way. Later it may work. */
  | 'too-many'

export class Rejection extends Error {
  override readonly name = 'Rejection'
  constructor (readonly code: RejectionCode, message: string, readonly errors?: FieldErrors) {
    super(message)
  }
}

/** An error that becomes an answer with this status. */
export const httpError = (statusCode: number, message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { statusCode })

/** The same for what belongs to others, so that nobody learns which ids exist. */
export const notOwn = (what: string, code: RejectionCode = 'not-found') =>
  new Rejection(code, `${what} not found or does not belong to the authenticated user`)

/** For others, and once it is deleted, it does not exist. @throws what `notFound` returns */
export function ownedBy<State extends { user_id: string, isDeleted?: true }> (
  userId: string, state: State | undefined, notFound: () => Rejection
): State {
  if (state?.user_id !== userId || state.isDeleted) throw notFound()
  return state
}

export const idTaken = () => new Rejection('id-taken', 'The id was given out before: try again')

export const invalid = (errors: FieldErrors) => new Rejection('invalid', 'The given data was invalid.', errors)

/** A body as it came. A field in `refused` is missing or wrong. */
export type Submitted<Body> =
  | { body: Body, refused?: undefined }
  | { body: Partial<Body>, refused: FieldErrors }

/** The result of a rule: the field and its problem, or nothing when the rule holds. */
export type Problem = { field: string, message: string } | false | undefined

export const problem = (field: string, message: string) => ({ field, message })

/** Joins what the schema refused and what the rules found, by field. */
export function collect (refused: FieldErrors, problems: Problem[]): FieldErrors {
  const errors = { ...refused }
  for (const found of problems) {
    if (found) errors[found.field] = [...(errors[found.field] ?? []), found.message]
  }
  return errors
}

/** The body, when neither its schema nor a rule refuses anything. @throws Rejection `invalid` with every problem */
export function soundBody<Body> ({ body, refused }: Submitted<Body>, problems: Problem[]): Body {
  const errors = collect(refused ?? {}, problems)
  if (refused || Object.keys(errors).length > 0) throw invalid(errors)
  return body
}

/** The fields that the schema did not refuse: a rule may rely on their types. */
export function soundFields<Body extends object> ({ body, refused = {} }: Submitted<Body>): Partial<Body> {
  const wrong = new Set(Object.keys(refused).map(topOf))
  const sound: Partial<Body> = { ...body }
  for (const name in sound) if (wrong.has(topOf(name))) delete sound[name]
  return sound
}

/** The field that a path with dots begins with. */
export const topOf = (path: string) => path.split('.', 1)[0] ?? path

/** One problem for each item whose `name` an earlier item has, or `first`. Takes items that the schema refused, too. */
export function repeated (
  list: string, items: unknown, name: string, message: string, first?: unknown, type: 'string' | 'number' = 'string'
): Problem[] {
  if (!Array.isArray(items)) return []
  const seen = new Set<unknown>([first])
  return items.map((item: unknown, index) => {
    const value = member(item, name)
    const found = typeof value
    const isSeen = found === type && seen.size === seen.add(value).size
    return isSeen && problem(`${list}.${index}.${name}`, message)
  })
}

/**
 * These leave no mark on a screen: spaces, controls, joiners, marks of direction, fillers. No schema has this as its
 * pattern: clients that are generated from it read classes of Unicode in ways of their own.
 */
const invisible = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]+$/u

/** Whether a name is there and shows nothing. An empty one is refused by its length. */
export const isBlank = (name: string) => invisible.test(name)

/** Most fields that one answer names. Those who collect them may stop after one more. */
export const mostFields = 500

const deepest = 32

/** A key may be long, and is part of the path of everything inside it: paths cut it. */
const longestKey = 100

/**
 * What JSON allows and a projection could not store or give back unchanged: NUL or lone surrogates in keys and strings,
 * numbers that lose digits, and too many levels. Finds no more than an answer would name.
 */
export function unstorable (body: unknown): FieldErrors {
  const errors = new Map<string, string[]>()
  walk(body, [], (path, message) => {
    errors.set(path.join('.').replaceAll('\0', '').toWellFormed() || 'body', [message])
    return errors.size > mostFields
  })
  return Object.fromEntries(errors)
}

/** Returns true when there are enough problems. */
type Report = (path: readonly string[], message: string) => boolean

/** Returns true when `report` said to stop. `path` is one array that changes on the way. */
function walk (value: unknown, path: string[], report: Report): boolean {
  if (path.length > deepest) return report(path.slice(0, deepest), `must not be nested more than ${deepest} levels deep`)
  if (typeof value === 'string') {
    return !isStorable(value) && report(path, 'must not contain NUL characters or lone surrogates')
  }
  if (typeof value === 'number') return checkNumber(value, path, report)
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value).some((key) => {
    path.push(key.slice(0, longestKey))
    const isOver = isStorable(key)
      ? walk(Reflect.get(value, key), path, report)
      : report(path, 'must not have NUL characters or lone surrogates in its name')
    path.pop()
    return isOver
  })
}

function checkNumber (value: number, path: readonly string[], report: Report): boolean {
  if (!Number.isFinite(value)) return report(path, 'must be a finite number')
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return false
  return report(path, `must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`)
}

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()
