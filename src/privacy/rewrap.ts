// Retires former SECRET_KEYs: wraps each person's key in the log with the current SECRET_KEY; the key itself stays.
// Also refuses a start with a SECRET_KEY that cannot open the keys in the log.
import { randomUUID } from 'node:crypto'
import { currentVersion } from '../domain/events.js'
import { personIn, personKeyStream } from '../domain/sealed.js'
import type { PersonKeyCreatedEvent } from '../features/persons/events.js'
import { RevisionConflict } from '../log/errors.js'
import { noStream, type Streams } from '../log/event-log.js'
import {
  aFewAtOnce, currentKey, keyErasedBy, keyMadeBy, newestIn, noteKeys, otherKey, PersonKeyUnreadable, unwrap, wrappedFor,
  type KeptKey
} from './person-keys.js'
import { keyId as idOf, seal, type SealedRow, type SecretKeys } from './sealed-text.js'
import type { Pool } from 'pg'
import type { StoredEvent } from '../domain/stored-event.js'

type RewrapStreams = Pick<Streams, 'read' | 'last' | 'append' | 'truncate'>

/**
 * Appends `PersonKeyCreated` with the same key, wrapped anew, and hides the former event. A concurrent erasure wins, as
 * each step expects the revision it has read. A repeated call finishes what broke off.
 * @returns the key as the log has it now; undefined when the person has none
 * @throws PersonKeyUnreadable and the errors of `Streams`
 */
async function rewrapKey (
  streams: RewrapStreams, secretKeys: SecretKeys, person: string
): Promise<KeptKey & { wrapped: SealedRow } | undefined> {
  const stream = personKeyStream(person)
  for (;;) {
    const { event, revision, first, metadata } = await look(streams, stream) ?? {}
    if (!event || revision === undefined || metadata === undefined) return undefined
    const isCurrent = event.data.wrapped_by === idOf(secretKeys.current)
    const anew = isCurrent ? event : rewrapped(secretKeys, person, event)
    const last = isCurrent ? revision : await append(streams, stream, anew, revision)
    if (last === undefined) continue
    if (first !== last) await hideBefore(streams, stream, last, metadata)
    const { key_id: keyId, wrapped_by, wrapped } = anew.data
    return { person, keyId, wrapped: { key_id: wrapped_by, sealed: wrapped } }
  }
}

/** Finishes for a process that crashed between its append and the truncation. */
async function hideFormer (streams: RewrapStreams, { current }: SecretKeys, person: string): Promise<void> {
  const stream = personKeyStream(person)
  const { event, revision, first, metadata } = await look(streams, stream) ?? {}
  if (revision === undefined || metadata === undefined || first === revision) return
  if (event?.data.wrapped_by === idOf(current)) await hideBefore(streams, stream, revision, metadata)
}

/** Undefined when there is no key. */
async function look (streams: RewrapStreams, stream: string) {
  // Read before the events: a later delete changes the metadata, so our write fails instead of undoing it.
  const metadata = (await streams.last(`$$${stream}`))?.revision ?? noStream
  const events = await streams.read(stream)
  const { event, revision } = newestIn(events) ?? {}
  if (event?.type !== 'PersonKeyCreated' || revision === undefined) return undefined
  return { event, revision, first: events[0]?.revision, metadata }
}

function rewrapped (
  secretKeys: SecretKeys, person: string, { type, data }: PersonKeyCreatedEvent
): PersonKeyCreatedEvent {
  const { key_id: keyId, wrapped_by, wrapped } = data
  const key = unwrap(secretKeys, { person, keyId, wrapped: { key_id: wrapped_by, sealed: wrapped } })
  if (!key) throw new Error(`the key ${keyId} is erased`) // `event` is a creation
  const anew = seal(secretKeys, wrappedFor(person, keyId), key.toString('base64'))
  return { type, data: { ...data, wrapped_by: anew.key_id, wrapped: anew.sealed } }
}

/** @returns the revision; undefined when another writer was first */
async function append (
  streams: RewrapStreams, stream: string, { type, data }: PersonKeyCreatedEvent, expected: bigint
): Promise<bigint | undefined> {
  const proposed = { id: randomUUID(), type, data, metadata: { schema_version: currentVersion(type) } }
  try {
    return (await streams.append(stream, [proposed], expected)).revision
  } catch (error) {
    if (error instanceof RevisionConflict) return undefined
    throw error
  }
}

/** A conflict means that the person was erased meanwhile: then everything is already hidden. */
async function hideBefore (
  streams: RewrapStreams, stream: string, revision: bigint, metadata: bigint
): Promise<void> {
  try {
    await streams.truncate(stream, revision, metadata)
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error
  }
}

export interface ResealKeysOptions extends Omit<WalkOptions, 'streams'> {
  streams: LostKeysOptions['streams'] & RewrapStreams
  secretKeys: SecretKeys
  /** Keys per query of the ledger; 500 when absent. */
  batchSize?: number
  onResealed? (keys: number): void
}

/**
 * First notes every key of the log in the ledger, then rewraps in the log each one that a former SECRET_KEY wrapped. A
 * repeated call resumes: a key is done once the ledger says so.
 * @returns how many keys
 * @throws PersonKeyUnreadable before anything is changed, the reason of `signal`, errors of `Streams`
 */
export async function resealKeys (options: ResealKeysOptions): Promise<number> {
  const { pool, streams, secretKeys, signal, batchSize = 500, onResealed = () => {} } = options
  const onLater = (persons: string[]) => aFewAtOnce(persons, (person) => hideFormer(streams, secretKeys, person))
  await noteKeysOfLog({ ...options, onLater })
  signal.throwIfAborted()
  await refuseLostKeys(options)
  let count = 0
  for (let after = lowestId; ;) {
    const rows = await findFormer(pool, idOf(secretKeys.current), after, batchSize)
    const persons = [...new Set(rows.map(({ person }) => person))]
    const kept = await aFewAtOnce(persons, async (person) => {
      signal.throwIfAborted()
      return await rewrapKey(streams, secretKeys, person)
    })
    const there = kept.flatMap((key) => key ?? [])
    await correct(pool, there, rows.map(({ id }) => id))
    count += there.length
    onResealed(count)
    const last = rows.at(-1)
    if (!last || rows.length < batchSize) return count
    after = last.id
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000'

async function findFormer (
  pool: Pool, current: string, after: string, most: number
): Promise<Array<{ id: string, person: string }>> {
  const { rows } = await pool.query<{ id: string, person: string }>(`
    SELECT key_id AS id, person FROM ledger.person_keys
    WHERE wrapped_by <> $1 AND key_id > $2 ORDER BY key_id LIMIT $3`, [current, after, most])
  return rows
}

interface LostKeysOptions {
  pool: Pool
  streams: Pick<Streams, 'head' | 'follow' | 'read' | 'last'>
  secretKeys: SecretKeys
}

/** How long a start reads the log for keys when the ledger has none. */
const lookIntoLogMs = 2_000

/** @throws PersonKeyUnreadable with the fix, EventStoreUnavailable */
export async function refuseLostKeysAtStart (options: LostKeysOptions): Promise<void> {
  const { rowCount } = await options.pool.query('SELECT FROM ledger.person_keys WHERE wrapped IS NOT NULL LIMIT 1')
  if (!rowCount) await noteKeysOfLog({ ...options, signal: AbortSignal.timeout(lookIntoLogMs) })
  await refuseLostKeys(options)
}

const most = 100

/**
 * Checks every row of the ledger. A row may be older than the log, where the key was rewrapped since: the log decides,
 * and the row is deleted.
 * @throws PersonKeyUnreadable, EventStoreUnavailable
 */
async function refuseLostKeys ({ pool, streams, secretKeys }: LostKeysOptions): Promise<void> {
  const known = [secretKeys.current, ...secretKeys.previous].map(idOf)
  for (;;) {
    const { rows } = await pool.query<{ id: string, person: string }>(`
      SELECT key_id AS id, person FROM ledger.person_keys WHERE wrapped_by <> ALL ($1) LIMIT ${most}`, [known])
    if (rows.length === 0) return
    await aFewAtOnce(rows, async ({ person }) => {
      const { wrapped } = await currentKey(streams, person) ?? {}
      if (wrapped && !known.includes(wrapped.key_id)) throw new PersonKeyUnreadable(otherKey)
    })
    await pool.query('DELETE FROM ledger.person_keys WHERE key_id = ANY ($1::uuid[]) AND wrapped_by <> ALL ($2)',
      [rows.map(({ id }) => id), known])
  }
}

export interface WalkOptions {
  pool: Pool
  streams: Pick<Streams, 'head' | 'follow' | 'read' | 'last'>
  /** Ends it early. */
  signal: AbortSignal
  /** @param share of the log read so far, 0 to 1 */
  onProgress? (keys: number, share: number): void
  /** Gets persons whose key was rewrapped at some time, or replaced another one. */
  onLater? (persons: string[]): Promise<unknown>
}

/**
 * Notes in the ledger all keys of the log, created and erased. Holds only one batch in memory.
 * @throws EventStoreUnavailable and errors of Postgres
 */
export async function noteKeysOfLog (options: WalkOptions): Promise<void> {
  const { pool, streams, signal, onProgress = () => {}, onLater = async () => {} } = options
  let count = 0
  for await (const { keys, later, share } of keysOfLog(streams, signal)) {
    if (keys.length > 0) {
      await noteKeys(pool, keys)
      await settle(pool, streams, keys)
    }
    if (later.length > 0) await onLater(later)
    count += keys.length
    onProgress(count, share)
  }
}

/**
 * A rewrapped key is in the log twice until a scavenge, and the ledger may have noted either: the person's stream
 * decides.
 */
async function settle (pool: Pool, streams: WalkOptions['streams'], keys: readonly KeptKey[]): Promise<void> {
  const { rows } = await pool.query<{ id: string, person: string }>(`
    SELECT key_id AS id, known.person FROM ledger.person_keys AS known
    JOIN unnest($1::uuid[], $2::text[]) AS told (id, wrapped_by) ON known.key_id = told.id
    WHERE known.wrapped_by <> told.wrapped_by`,
  [keys.map(({ keyId }) => keyId), keys.map(({ wrapped }) => wrapped?.key_id)])
  const found = await aFewAtOnce(rows, ({ person }) => currentKey(streams, person))
  if (rows.length > 0) await correct(pool, found.flatMap((key) => key ?? []), rows.map(({ id }) => id))
}

/** Keys of the log up to its head, by batch; of each key the newest event in the batch. */
async function * keysOfLog (
  streams: Pick<Streams, 'head' | 'follow'>, signal: AbortSignal
): AsyncGenerator<{ keys: KeptKey[], later: string[], share: number }> {
  const end = await streams.head()
  if (end === 0n) return
  const eventTypes = ['PersonKeyCreated', 'PersonKeyErased']
  for await (const { events, position } of streams.follow({ after: 0n, eventTypes, signal })) {
    const later = events.filter(({ type, revision }) => type === 'PersonKeyCreated' && revision > 0n)
    yield {
      keys: newestOfEach(events),
      later: [...new Set(later.flatMap(({ stream }) => personIn(stream) ?? []))],
      share: Math.min(1, Number(position) / Number(end))
    }
    if (position >= end) return
  }
}

function newestOfEach (events: readonly StoredEvent[]): KeptKey[] {
  const keys = new Map<string, KeptKey>()
  for (const stored of events) {
    const [made, erased] = [keyMadeBy(stored), keyErasedBy(stored)]
    const key = erased ? { ...erased, wrapped: undefined } : made
    if (key) keys.set(key.keyId, key)
  }
  return [...keys.values()]
}

/** An erased key stays erased. Deletes the rows of `lookedAt` keys that are gone. */
async function correct (
  pool: Pool, keys: readonly KeptKey[], lookedAt: readonly string[]
): Promise<void> {
  await pool.query(`
    WITH there AS (
      INSERT INTO ledger.person_keys (key_id, person, wrapped_by, wrapped)
      SELECT id, person, wrapped_by, decode(wrapped, 'base64')
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS kept (id, person, wrapped_by, wrapped) ORDER BY id
      ON CONFLICT (key_id) DO UPDATE SET wrapped_by = excluded.wrapped_by, wrapped = excluded.wrapped
        WHERE person_keys.wrapped IS NOT NULL
    )
    DELETE FROM ledger.person_keys
    WHERE key_id = ANY ($5::uuid[]) AND key_id <> ALL ($1::uuid[]) AND wrapped IS NOT NULL`,
  [
    keys.map(({ keyId }) => keyId), keys.map(({ person }) => person),
    keys.map(({ wrapped }) => wrapped?.key_id), keys.map(({ wrapped }) => wrapped?.sealed), lookedAt
  ])
}
