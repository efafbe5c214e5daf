// Retires former SECRET_KEYs: wraps each person's key in the log with the current SECRET_KEY; the key itself stays.
// Also refuses a start with a SECRET_KEY that cannot open the keys in the log.
import { personIn, personKeyStream } from '../domain/sealed.js'
import { noStream, type Streams } from '../log/event-log.js'
import {
  aFewAtOnce, appendKey, currentKey, keyIn, newestIn, noteKeys, otherKey, PersonKeyUnreadable, unlessConflict, unwrap,
  wrappedFor, type KeptKey
} from './person-keys.js'
import { keyTypes } from './events.js'
import { keyId as idOf, seal, type SealedRow, type SecretKeys } from './sealed-text.js'
import type { Pool } from 'pg'

type RewrapStreams = Pick<Streams, 'read' | 'last' | 'append' | 'truncate'>

/**
 * Appends `PersonKeyCreated` with the same key, wrapped anew, and hides the former event. A concurrent erasure wins, as
 * each step expects the revision it has read. A repeated call finishes what broke off.
 * @param onlyHides finishes for a process that crashed between its append and the truncation, and appends nothing
 * @returns the key as the log has it now; undefined when the person has none
 * @throws PersonKeyUnreadable and the errors of `Streams`
 */
async function rewrapKey (
  streams: RewrapStreams, secretKeys: SecretKeys, person: string, onlyHides = false
): Promise<KeptKey | undefined> {
  const stream = personKeyStream(person)
  for (;;) {
    // Read before the events: a later delete changes the metadata, so our write fails instead of undoing it.
    const metadata = (await streams.last(`$$${stream}`))?.revision ?? noStream
    const events = await streams.read(stream)
    const found = newestIn(person, events)
    if (found?.event.type !== 'PersonKeyCreated') return undefined
    const { keyId, revision } = found
    let [last, wrapped]: [bigint | undefined, SealedRow | null] = [revision, found.wrapped]
    if (wrapped?.key_id !== idOf(secretKeys.current)) {
      if (onlyHides) return undefined
      wrapped = rewrapped(secretKeys, found)
      const anew = { ...found.event.data, wrapped_by: wrapped.key_id, wrapped: wrapped.sealed }
      last = await appendKey(streams, person, { type: 'PersonKeyCreated', data: anew }, revision)
      if (last === undefined) continue
    }
    // A conflict means that the person was erased meanwhile: then everything is already hidden.
    if (events[0]?.revision !== last) await unlessConflict(streams.truncate(stream, last, metadata))
    return { person, keyId, wrapped }
  }
}

function rewrapped (secretKeys: SecretKeys, kept: KeptKey): SealedRow {
  const key = unwrap(secretKeys, kept)
  if (!key) throw new Error(`the key ${kept.keyId} is erased`) // its event is a creation
  return seal(secretKeys, wrappedFor(kept.person, kept.keyId), key.toString('base64'))
}

export interface ResealKeysOptions extends Omit<WalkOptions, 'streams'> {
  streams: LostKeysOptions['streams'] & RewrapStreams
  secretKeys: SecretKeys
  onResealed? (keys: number): void
}

/**
 * First notes every key of the log in the ledger, then rewraps in the log each one that a former SECRET_KEY wrapped. A
 * repeated call resumes: a key is done once the ledger says so.
 * @returns how many keys
 * @throws PersonKeyUnreadable before anything is changed, the reason of `signal`, errors of `Streams`
 */
export async function resealKeys (options: ResealKeysOptions): Promise<number> {
  const { pool, streams, secretKeys, signal, onResealed = () => {} } = options
  const onLater = (persons: string[]) => aFewAtOnce(persons, (person) => rewrapKey(streams, secretKeys, person, true))
  await noteKeysOfLog({ ...options, onLater })
  signal.throwIfAborted()
  await refuseLostKeys(options)
  let count = 0
  for (let after = lowestId; ;) {
    const { rows } = await pool.query<{ id: string, person: string }>(`
      SELECT key_id AS id, person FROM ledger.person_keys
      WHERE wrapped_by <> $1 AND key_id > $2 ORDER BY key_id LIMIT 500`, [idOf(secretKeys.current), after])
    onResealed(count)
    const last = rows.at(-1)
    if (!last) return count
    after = last.id
    const persons = [...new Set(rows.map(({ person }) => person))]
    const kept = await aFewAtOnce(persons, async (person) => {
      signal.throwIfAborted()
      return await rewrapKey(streams, secretKeys, person)
    })
    const there = kept.flatMap((key) => key ?? [])
    await correct(pool, there, rows.map(({ id }) => id))
    count += there.length
  }
}

const lowestId = '00000000-0000-0000-0000-000000000000'

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
export async function noteKeysOfLog ({ pool, streams, signal, onProgress, onLater }: WalkOptions): Promise<void> {
  const end = await streams.head()
  if (end === 0n) return
  let count = 0
  for await (const { events, position } of streams.follow({ after: 0n, eventTypes: keyTypes, signal })) {
    const keys = [...new Map(events.flatMap(keyIn).map((key) => [key.keyId, key])).values()] // the newest event of each
    if (keys.length > 0) {
      await noteKeys(pool, keys)
      await settle(pool, streams, keys)
    }
    const later = events.filter(({ type, revision }) => type === 'PersonKeyCreated' && revision > 0n)
      .flatMap(({ stream }) => personIn(stream) ?? [])
    if (later.length > 0) await onLater?.([...new Set(later)])
    count += keys.length
    onProgress?.(count, Math.min(1, Number(position) / Number(end)))
    if (position >= end) return
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

/** Deletes the rows of `lookedAt` keys that are gone. */
async function correct (
  pool: Pool, keys: readonly KeptKey[], lookedAt: readonly string[]
): Promise<void> {
  await noteKeys(pool, keys, true)
  await pool.query(`
    DELETE FROM ledger.person_keys
    WHERE key_id = ANY ($1::uuid[]) AND key_id <> ALL ($2::uuid[]) AND wrapped IS NOT NULL`,
  [lookedAt, keys.map(({ keyId }) => keyId)])
}
