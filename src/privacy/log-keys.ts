// Keys of persons in the log, where the newest event of a person's stream says whether there is one, and in the ledger,
// which is a cache of it that can be emptied at any time.
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { currentVersion, tryDecode } from '../domain/events.js'
import { personIn, personKeyStream, type PersonKeyEvent } from '../features/persons/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import { AppendOutcomeUnknown, EventStoreUnavailable, RevisionConflict } from '../log/errors.js'
import { noStream, type Streams } from '../log/event-log.js'
import { seal, type SecretKeys, type SealedRow, UnknownSecretKey, unseal } from './sealed-text.js'
import type { Pool } from 'pg'
import { lookUp } from '../postgres/batcher.js'

/** Names a key in what is sealed under it. */
export interface KeyName { person: string, keyId: string }

/** A key is there, and none of the keys that are set decrypts it: it is not erased, and an operator mends it. */
export class PersonKeyUnreadable extends Error {
  override readonly name = 'PersonKeyUnreadable'
}

type LogStreams = Pick<Streams, 'read' | 'last' | 'append' | 'delete'>

interface Newest { event: PersonKeyEvent, revision: bigint }

/**
 * Works on the streams of many persons, 32 at a time. Each call has its own limit: a look-up does not queue behind bulk
 * work. After an error nothing more begins.
 * @throws the first error; what has begun goes on
 */
export async function aFewAtOnce<Item, Result> (
  items: readonly Item[], work: (item: Item) => Promise<Result>
): Promise<Result[]> {
  const limit = pLimit(32)
  return await limit.map(items, work).finally(() => limit.clearQueue())
}

/** Two processes that make or erase a key of one person at once are done after a few rounds. */
const giveUpAfterMs = 5_000

/**
 * Makes a key for the person, unless another process does it first: then it is that one. Where it is not known
 * whether there is a key now, surely nothing was sealed under it, nor sent: that is no outcome which is not known.
 * @returns with the `key` itself where it was made here
 * @throws EventStoreUnavailable and the other errors of `Streams`, but for AppendOutcomeUnknown
 */
export async function createKey (
  streams: LogStreams, secretKeys: SecretKeys, person: string
): Promise<KeptKey & { key?: Buffer }> {
  const [keyId, key] = [randomUUID(), randomBytes(32)]
  const wrapped = seal(secretKeys, wrappedFor(person, keyId), key.toString('base64'))
  const { key_id: wrapped_by, sealed } = wrapped
  const data = { key_id: keyId, wrapped_by, wrapped: sealed, created_at: new Date().toISOString() }
  try {
    for (const giveUpAt = Date.now() + giveUpAfterMs; Date.now() < giveUpAt; await delay(Math.random() * 20)) {
      const isMade = await append(streams, person, { type: 'PersonKeyCreated', data }, noStream)
      if (isMade) return { person, keyId, wrapped, key }
      const newest = await newestOf(streams, person)
      const theirs = newest && keptIn(person, newest.event)
      if (theirs) return theirs
      if (newest) await end(streams, person, newest.revision) // what an erasure that ended early has left
    }
  } catch (cause) {
    if (!(cause instanceof AppendOutcomeUnknown)) throw cause
    throw new EventStoreUnavailable('the event store did not say whether a person has a key', { cause })
  }
  throw new EventStoreUnavailable('the stream of a person\'s key is written to by others all the time')
}

/** Ends the key that the person has, for good. @returns its id, if there was one */
export async function eraseKey (streams: LogStreams, person: string): Promise<string | undefined> {
  for (;;) {
    const newest = await newestOf(streams, person)
    if (!newest) return undefined
    const { event: { type, data: { key_id } }, revision } = newest
    const erasure = { type: 'PersonKeyErased' as const, data: { key_id, erased_at: new Date().toISOString() } }
    if (type === 'PersonKeyErased') await end(streams, person, revision)
    else if (await append(streams, person, erasure, revision)) await end(streams, person, revision + 1n)
    else continue
    return key_id
  }
}

/** False when another process was first. */
async function append (
  streams: LogStreams, person: string, { type, data }: PersonKeyEvent, expected: bigint
): Promise<boolean> {
  const proposed = { id: randomUUID(), type, data, metadata: { schema_version: currentVersion(type) } }
  return await isDone(streams.append(personKeyStream(person), [proposed], expected))
}

async function end (streams: LogStreams, person: string, expected: bigint): Promise<void> {
  await isDone(streams.delete(personKeyStream(person), expected))
}

/** The key that an event has made, when it is sound and on the stream of a person. */
export function keyMadeBy (stored: StoredEvent): KeptKey | undefined {
  const person = personIn(stored.stream)
  const { event } = tryDecode(stored)
  return person !== undefined && event?.type === 'PersonKeyCreated' ? keptIn(person, event) : undefined
}

/** The key that an event has ended. */
export function keyErasedBy (stored: StoredEvent): KeyName | undefined {
  const person = personIn(stored.stream)
  const { event } = tryDecode(stored)
  return person !== undefined && event?.type === 'PersonKeyErased' ? { person, keyId: event.data.key_id } : undefined
}

/** The key that the person has now, as the log says. @throws EventStoreUnavailable */
export async function currentKey (
  streams: Pick<Streams, 'read' | 'last'>, person: string
): Promise<KeptKey | undefined> {
  const { event } = await newestOf(streams, person) ?? {}
  return event && keptIn(person, event)
}

/** Others may append anything: the newest event that is sound and ours counts. */
async function newestOf (streams: Pick<Streams, 'read' | 'last'>, person: string): Promise<Newest | undefined> {
  const stream = personKeyStream(person)
  const last = await streams.last(stream)
  if (!last) return undefined
  return newestIn([last]) ?? newestIn(await streams.read(stream))
}

/** What a wrapped key is bound to. */
export const wrappedFor = (person: string, keyId: string) => `${person} ${keyId}`

/** What says whether there is a key, and the last revision of the stream, whose events these are. */
export function newestIn (events: readonly StoredEvent[]): Newest | undefined {
  for (const stored of events.toReversed()) {
    const { event } = tryDecode(stored)
    if (event?.type === 'PersonKeyCreated' || event?.type === 'PersonKeyErased') {
      return { event, revision: events.at(-1)?.revision ?? stored.revision }
    }
  }
  return undefined
}

function keptIn (person: string, { type, data }: PersonKeyEvent): KeptKey | undefined {
  if (type === 'PersonKeyErased') return undefined
  return { person, keyId: data.key_id, wrapped: { key_id: data.wrapped_by, sealed: data.wrapped } }
}

async function isDone (work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof RevisionConflict) return false
    throw error
  }
}

/** A key as the ledger has it; without `wrapped` it was erased. */
export interface KeptKey { person: string, keyId: string, wrapped: SealedRow | undefined }

/** As `keyColumns` gives them. */
interface KeyRow { person: string, id: string, key_id: string | null, sealed: string | null }

/** Of `ledger.person_keys`. */
const keyColumns = 'key_id AS id, person, wrapped_by AS key_id, encode(wrapped, \'base64\') AS sealed'

const keyOfPerson = {
  name: 'person-key',
  types: ['text'],
  text: `SELECT ${keyColumns} FROM ledger.person_keys WHERE person = $1 AND wrapped IS NOT NULL`
}

/** The key of the person that is not erased, as the ledger has it. Look-ups of one moment share a statement. */
export async function keyOf (pool: Pool, person: string): Promise<KeptKey | undefined> {
  const row = await lookUp<KeyRow>(pool, keyOfPerson, [person])
  return row && keptKey(row)
}

/** What the ledger has of them, in one statement. */
export async function findKeys (pool: Pool, keyIds: readonly string[]): Promise<KeptKey[]> {
  const { rows } = await pool.query<KeyRow>({
    name: 'person-keys',
    // Planned once for any number: Postgres does not see how many there are.
    text: `SELECT ${keyColumns} FROM ledger.person_keys WHERE key_id = ANY ((SELECT $1::uuid[])::uuid[])`,
    values: [keyIds]
  })
  return rows.map(keptKey)
}

/** Writes them to the ledger. One that was erased stays so. */
export async function noteKeys (pool: Pool, keys: readonly KeptKey[]): Promise<void> {
  await pool.query({
    name: 'note-person-keys',
    text: `
      INSERT INTO ledger.person_keys (key_id, person, wrapped_by, wrapped)
      SELECT id, person, wrapped_by, decode(wrapped, 'base64')
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS noted (id, person, wrapped_by, wrapped)
      ORDER BY id
      ON CONFLICT (key_id) DO UPDATE SET wrapped_by = NULL, wrapped = NULL WHERE excluded.wrapped IS NULL`,
    values: [
      keys.map(({ keyId }) => keyId), keys.map(({ person }) => person),
      keys.map(({ wrapped }) => wrapped?.key_id ?? null), keys.map(({ wrapped }) => wrapped?.sealed ?? null)
    ]
  })
}

/** Every key that the ledger knows of a person. */
export async function idsOf (pool: Pool, person: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT key_id AS id FROM ledger.person_keys WHERE person = $1', [person])
  return rows.map(({ id }) => id)
}

function keptKey ({ person, id: keyId, key_id, sealed }: KeyRow): KeptKey {
  return { person, keyId, wrapped: key_id === null || sealed === null ? undefined : { key_id, sealed } }
}

/** Nothing when it was erased. @throws PersonKeyUnreadable */
export function unwrap (secretKeys: SecretKeys, { person, keyId, wrapped }: KeptKey): Buffer | undefined {
  if (!wrapped) return undefined
  try {
    return Buffer.from(unseal(secretKeys, wrappedFor(person, keyId), wrapped), 'base64')
  } catch (cause) {
    throw new PersonKeyUnreadable(cause instanceof UnknownSecretKey ? otherKey : changed, { cause })
  }
}

/** What mends it. */
export const otherKey = 'the keys of persons in the log are encrypted with another SECRET_KEY: put the former one into ' +
  'SECRET_KEY_PREVIOUS, which takes several with commas between them'
const changed = 'the key of a person in the log was changed: restore the log, or put back the event'
