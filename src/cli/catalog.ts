// `ringledger catalog import`: appends a catalogue file to the log, and waits until readers see it.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import Type, { type Static } from 'typebox'
import { catalog } from '../../projections/catalog.js'
import { feedGenerations } from '../../projections/engine/feed.js'
import { commandHandler, type HandleCommand } from '../commands/handle.js'
import { PhoneClaims, holdToLeadDigestKey } from '../commands/phone-numbers.js'
import { digestOfNumbers } from '../services/complete-config.js'
import type { Connections } from '../services/connections.js'
import { isBlank, Rejection, type FieldErrors, unstorable } from '../domain/rejection.js'
import { importedCampaignDecider } from '../features/campaigns/model.js'
import { campaignStream } from '../features/campaigns/events.js'
import { languagesDecider, modelsDecider, voicesDecider } from '../features/catalog/model.js'
import { catalogStreams } from '../features/catalog/events.js'
import type { Decider, DomainEvent } from '../domain/events.js'
import { believedId, Id, notBlank, PhoneNumber } from '../domain/json.js'
import { importedNumberDecider, type ImportNumber, type NumberState } from '../features/phone-numbers/model.js'
import { phoneNumberStream } from '../features/phone-numbers/events.js'
import { fieldErrors, openAjv } from '../http/field-errors.js'
import { readText } from '../text-files.js'
import { answer } from './output.js'
import { withConnections } from './running.js'

export async function importFile (file: string, { json }: { json?: boolean }): Promise<void> {
  const contents = await readCatalogFile(file)
  const position = await withConnections('ringledger catalog import', (connections, log, config) =>
    importAndProject(connections, contents, config, log), 'tables')
  answer(json, { file, position: String(position) }, `The catalogue in ${file} is imported and projected.`)
}

/** For a first start: imports the file unless the log already has a catalogue. */
export async function importExampleOnce (
  connections: Connections, file: string, config: DigestSettings, log: Logger
): Promise<void> {
  const existing = await connections.streams.read(catalogStreams.voices, 0n, 1)
  if (existing.length === 0) await importAndProject(connections, await readCatalogFile(file), config, log)
}

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

/** @throws an Error that names the file and every invalid field */
export async function readCatalogFile (file: string): Promise<CatalogFile> {
  const contents = parsed(file)
  const validate = openAjv().compile<CatalogFile>(CatalogFile)
  const isCatalog = validate(contents)
  const errors = isCatalog ? repeatedIds(contents) : fieldErrors(validate.errors ?? [])
  const blank = isCatalog ? blankNames(contents) : {}
  const wrong = Object.entries({ ...unstorable(contents), ...blank, ...errors })
  const problems = wrong.map(([path, [problem]]) => `  ${path} ${problem}`)
  if (isCatalog && problems.length === 0) return contents
  throw new Error(`${file} is not a catalogue:\n${problems.join('\n')}`)
}

function parsed (file: string): unknown {
  let problem = 'cannot be read'
  try {
    const text = readText(file)
    problem = 'is not JSON'
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file} ${problem}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
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

type DigestSettings = Parameters<typeof digestOfNumbers>[0]

const projectedWithinMs = 60_000

/** Also projects the catalogue, unless a projector does. @returns the position at which it is complete */
export async function importAndProject (
  { streams, consumerPool: pool, positions }: Connections, contents: CatalogFile, config: DigestSettings, log: Logger
): Promise<bigint> {
  const stopping = new AbortController()
  const projecting = feedGenerations([catalog], {
    pool, streams, holder: `catalog import ${process.pid}`, yields: true, signal: stopping.signal, log
  })
  try {
    const digest = digestOfNumbers(config)
    await holdToLeadDigestKey(streams, digest)
    const handle = commandHandler(streams)
    await raiseIds(pool, contents)
    const position = await importCatalog({ handle, claims: new PhoneClaims(handle, digest) }, contents)
    const seen = await positions.projected('catalog', position, projectedWithinMs)
    if (seen === 'seen') return position
    throw new Error('the catalogue is in the log, but its projection has ' + (seen === 'parked'
      ? 'parked events of it: see `ringledger projections quarantine list`'
      : `not caught up within ${projectedWithinMs / 1000} s: see \`ringledger projections list\``))
  } finally {
    stopping.abort()
    await projecting
  }
}

/** Runs before the ids are in the log, so that others get hardly any of them meanwhile. */
async function raiseIds (pool: Pool, { users = [] }: CatalogFile): Promise<void> {
  const ids = {
    campaign: users.flatMap(({ campaigns = [] }) => campaigns),
    phone_number: users.flatMap(({ phone_numbers: numbers = [] }) => numbers)
  }
  for (const [kind, entries] of Object.entries(ids)) {
    const highest = entries.reduce((most, { id }) => Math.max(most, believedId(id)), 0)
    await pool.query('SELECT ledger.raise_ids($1::regclass, $2)', [`ledger.${kind}_ids`, highest])
  }
}

export interface ImportTools { handle: HandleCommand, claims: PhoneClaims }

/** Keeps an append well under the store's 1 MiB, including metadata and the longest names. */
const entriesAtOnce = 250

/**
 * Appends what the log lacks. The same file again appends nothing; another name renames. What users changed or deleted
 * since the last import stays, unless the file has changed there.
 * @returns the position at which the catalogue is complete
 * @throws Rejection when an id belongs to another user, or somebody holds a new phone number
 */
export async function importCatalog (
  { handle, claims }: ImportTools, { voices = [], languages = [], models = [], users = [] }: CatalogFile
): Promise<bigint> {
  const now = new Date().toISOString()
  let last = 0n
  await addAll(voicesDecider, catalogStreams.voices, voices)
  await addAll(languagesDecider, catalogStreams.languages, languages.map((name) => ({ name })))
  await addAll(modelsDecider, catalogStreams.models, models.map((name) => ({ name })))
  for (const { id, campaigns = [], phone_numbers = [] } of users) {
    const user_id = String(id)
    for (const { id: campaign_id, name } of campaigns) {
      await run(importedCampaignDecider, campaignStream(campaign_id), { campaign_id, user_id, name, now })
    }
    for (const { id: phone_number_id, phone_number } of phone_numbers) {
      reached(await importNumber({ handle, claims }, { phone_number_id, user_id, phone_number }))
    }
  }
  return last

  async function addAll<State, Event extends DomainEvent, Entry> (
    decider: Decider<State, Event, { entries: Entry[] }>, stream: string, entries: Entry[]
  ) {
    for (let at = 0; at < entries.length; at += entriesAtOnce) {
      await run(decider, stream, { entries: entries.slice(at, at + entriesAtOnce) })
    }
  }

  async function run<State, Event extends DomainEvent, Command> (
    decider: Decider<State, Event, Command>, stream: string, command: Command
  ) {
    const origin = { commandId: randomUUID(), correlationId: randomUUID() }
    const request = { aggregate: decider, stream, decide: (state: State) => decider.decide(command, state), origin }
    reached((await handle(request)).position)
  }

  function reached (position: bigint) { if (position > last) last = position }
}

/**
 * Claims a phone number and then adds it, as a user does. What the log has under this id stays, even if its user has
 * released the number since, or another user had it first.
 * @returns the position at which the number is complete
 * @throws Rejection when the id is not this number of this user, or somebody else holds the number
 */
async function importNumber ({ handle, claims }: ImportTools, wanted: ImportNumber): Promise<bigint> {
  const { phone_number_id, phone_number } = wanted
  const cause = { correlationId: randomUUID() }
  const present = await ask((state) => {
    if (state) importedNumberDecider.decide(wanted, state)
    return []
  })
  if (present.state) return present.position
  await claims.claim(wanted, cause).catch((error: unknown) => {
    if (!(error instanceof Rejection)) throw error
    throw new Rejection(
      'catalog-conflict', `phone number ${phone_number_id} is ${phone_number}, which is held under another id: leave it out`)
  })
  return (await ask((state) => importedNumberDecider.decide(wanted, state))).position

  async function ask (decide: (state: NumberState) => ReturnType<typeof importedNumberDecider.decide>) {
    const origin = { commandId: randomUUID(), ...cause }
    const stream = phoneNumberStream(phone_number_id)
    return await handle({ aggregate: importedNumberDecider, stream, decide, origin })
  }
}
