// Brings a catalogue file into the log: only what is new is appended.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import Type, { type Static } from 'typebox'
import { campaignDecider, listDecider, phoneNumberDecider } from '../domain/catalog/decide.js'
import { catalogStreams } from '../domain/catalog/events.js'
import type { Decider } from '../domain/decider.js'
import type { DomainEvent } from '../domain/events.js'
import { Id, PhoneNumber } from '../domain/json.js'
import type { FieldErrors } from '../domain/rejection.js'
import type { HandleCommand } from '../command-handling/handle-command.js'
import { fieldErrors, type SchemaError } from '../http/schema-errors.js'
import { unstorable } from '../http/unstorable.js'

const Name = Type.String({ minLength: 1, maxLength: 255 })
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

const validate = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<CatalogFile>(CatalogFile)

/** @throws an Error that names the file and every field that is wrong */
export async function readCatalogFile (file: string): Promise<CatalogFile> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => { throw new Error(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }) })
  const catalog = parse(text, file)
  const errors = validate(catalog) ? repeatedIds(catalog) : fieldErrors((validate.errors ?? []) as SchemaError[])
  const problems = Object.entries({ ...unstorable(catalog), ...errors }).map(([path, [problem]]) => `  ${path} ${problem}`)
  if (problems.length === 0) return catalog as CatalogFile // a file that is none has problems
  throw new Error(`${file} is not a catalogue:\n${problems.join('\n')}`)
}

/** Two entries under one id would rename each other at every import. */
function repeatedIds ({ voices = [], users = [] }: CatalogFile): FieldErrors {
  const errors: FieldErrors = {}
  const look = (entries: { path: string, id: string | number }[]) => {
    const seen = new Set<string>()
    for (const { path, id } of entries) {
      if (seen.has(String(id))) errors[path] = [`must be unique, and ${id} is not`]
      seen.add(String(id))
    }
  }
  look(voices.map(({ id }, index) => ({ path: `voices.${index}.id`, id })))
  for (const list of ['campaigns', 'phone_numbers'] as const) {
    look(users.flatMap((user, index) => (user[list] ?? []).map(({ id }, place) => ({ path: `users.${index}.${list}.${place}.id`, id }))))
  }
  return errors
}

function parse (text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** One append stays well under the store's 1 MiB, metadata and the longest names included. */
const entriesAtOnce = 250

/**
 * Appends what the log does not hold yet. The same file again appends nothing, another name renames.
 * @returns the position that the catalogue is complete at
 * @throws Rejection when an id belongs to another user
 */
export async function importCatalog (handle: HandleCommand, { voices = [], languages = [], models = [], users = [] }: CatalogFile): Promise<bigint> {
  let last = 0n
  const run = async <State, Event extends DomainEvent, Command>(decider: Decider<State, Event, Command>, stream: string, command: Command) => {
    const { position } = await handle({ decider, stream, command, commandId: randomUUID(), correlationId: randomUUID() })
    if (position > last) last = position
  }
  const addAll = async (type: Parameters<typeof listDecider>[0], stream: string, entries: { id?: number, name: string }[]) => {
    for (let at = 0; at < entries.length; at += entriesAtOnce) await run(listDecider(type), stream, { entries: entries.slice(at, at + entriesAtOnce) })
  }
  await addAll('VoiceAdded', catalogStreams.voices, voices)
  await addAll('LanguageAdded', catalogStreams.languages, languages.map((name) => ({ name })))
  await addAll('ModelAdded', catalogStreams.models, models.map((name) => ({ name })))
  for (const { id, campaigns = [], phone_numbers = [] } of users) {
    const user_id = String(id)
    for (const { id: campaign_id, name } of campaigns) {
      await run(campaignDecider, catalogStreams.campaign(campaign_id), { campaign_id, user_id, name })
    }
    for (const { id: phone_number_id, phone_number } of phone_numbers) {
      await run(phoneNumberDecider, catalogStreams.phoneNumber(phone_number_id), { phone_number_id, user_id, phone_number })
    }
  }
  return last
}
