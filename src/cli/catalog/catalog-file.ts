// Reads a catalogue file, and checks it.
import Type, { type Static } from 'typebox'
import { isBlank } from '../../domain/blank.js'
import { Id, PhoneNumber, notBlank } from '../../domain/json.js'
import type { FieldErrors } from '../../domain/rejection.js'
import { openAjv } from '../../http/input/ajv.js'
import { fieldErrors } from '../../http/input/schema-errors.js'
import { unstorable } from '../../http/input/unstorable.js'
import { readText } from '../../text-files.js'

const Name = Type.String({ minLength: 1, maxLength: 255, ...notBlank })
const CatalogFile = Type.Object({
  voices: Type.Optional(Type.Array(Type.Object({ id: Id({}), name: Name }))),
  languages: Type.Optional(Type.Array(Name)),
  models: Type.Optional(Type.Array(Name)),
  users: Type.Optional(Type.Array(Type.Object({
    id: Type.Unsafe<string | number>({ type: ['string', 'integer'], minLength: 1, maxLength: 128 }),
    campaigns: Type.Optional(Type.Array(Type.Object({ id: Id({}), name: Name }))),
    phone_numbers: Type.Optional(Type.Array(Type.Object({ id: Id({}), phone_number: PhoneNumber() })))
  })))
})
export type CatalogFile = Static<typeof CatalogFile>

const validate = openAjv().compile<CatalogFile>(CatalogFile)

/** @throws an Error that names the file and every field that is wrong */
export async function readCatalogFile (file: string): Promise<CatalogFile> {
  const catalog = parse(textOf(file), file)
  const isCatalog = validate(catalog)
  const errors = isCatalog ? repeatedIds(catalog) : fieldErrors(validate.errors ?? [])
  const blank = isCatalog ? blankNames(catalog) : {}
  const wrong = Object.entries({ ...unstorable(catalog), ...blank, ...errors })
  const problems = wrong.map(([path, [problem]]) => `  ${path} ${problem}`)
  if (isCatalog && problems.length === 0) return catalog
  throw new Error(`${file} is not a catalogue:\n${problems.join('\n')}`)
}

function textOf (file: string): string {
  try {
    return readText(file)
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${reason(cause)}`, { cause })
  }
}

function parse (text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file} is not JSON: ${reason(cause)}`, { cause })
  }
}

function blankNames ({ voices = [], languages = [], models = [], users = [] }: CatalogFile): FieldErrors {
  const named = [
    ...voices.map(({ name }, at) => ({ path: `voices.${at}.name`, name })),
    ...languages.map((name, at) => ({ path: `languages.${at}`, name })),
    ...models.map((name, at) => ({ path: `models.${at}`, name })),
    ...users.flatMap(({ campaigns = [] }, user) =>
      campaigns.map(({ name }, at) => ({ path: `users.${user}.campaigns.${at}.name`, name })))
  ]
  const blank = named.filter(({ name }) => isBlank(name))
  return Object.fromEntries(blank.map(({ path }) => [path, ['must not be blank']]))
}

/** Two entries with one id would rename each other at every import. */
function repeatedIds ({ voices = [], users = [] }: CatalogFile): FieldErrors {
  const errors: FieldErrors = {}
  const check = (entries: { path: string, id: number }[]) => {
    const seen = new Set<number>()
    for (const { path, id } of entries) {
      if (seen.has(id)) errors[path] = [`must be unique, and ${id} is not`]
      seen.add(id)
    }
  }
  check(voices.map(({ id }, index) => ({ path: `voices.${index}.id`, id })))
  for (const list of ['campaigns', 'phone_numbers'] as const) {
    check(users.flatMap((user, index) =>
      (user[list] ?? []).map(({ id }, at) => ({ path: `users.${index}.${list}.${at}.id`, id }))))
  }
  return errors
}

const reason = (cause: unknown) => cause instanceof Error ? cause.message : String(cause)
