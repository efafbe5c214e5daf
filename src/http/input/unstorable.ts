// Finds what JSON allows and a projection could not store or give back unchanged.
import type { FieldErrors } from '../../domain/rejection.js'
import { mostFields } from './named-fields.js'

const deepest = 32

/** A key may be of any length, and is part of the path of everything inside it: in paths it is cut. */
const longestKey = 100

/**
 * NUL or lone surrogates in keys and strings, numbers that lose digits, and too many levels; paths have dots. Finds no
 * more than an answer would name.
 */
export function unstorable (body: unknown): FieldErrors {
  const errors = new Map<string, string[]>()
  walk(body, [], (path, message) => {
    errors.set(path.join('.').replaceAll('\0', '').toWellFormed() || 'body', [message])
    return errors.size > mostFields
  })
  return Object.fromEntries(errors)
}

/** Answers true when there were enough problems. */
type Report = (path: readonly string[], message: string) => boolean

/** Answers true when `report` said to stop. `path` is the same array all the way. */
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
