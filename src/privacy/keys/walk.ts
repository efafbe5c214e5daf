// Goes through the keys of persons in the log, oldest first, so that the ledger has each of them.
import type { Pool } from 'pg'
import { personIn } from '../../features/persons/key-events.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Streams } from '../../log/event-log.js'
import { LedgerKeys, type KeptKey } from './ledger-keys.js'
import { aFewAtOnce, currentKey, keyErasedBy, keyMadeBy } from './log-keys.js'
import { correct } from './correct.js'

export interface WalkOptions {
  pool: Pool
  streams: Pick<Streams, 'head' | 'follow' | 'read' | 'last'>
  /** Ends it early. */
  signal: AbortSignal
  /** @param share of the log that was gone through, 0 to 1 */
  onProgress? (keys: number, share: number): void
  /** Told of persons whose key was encrypted anew at some time, or came after another one. */
  onLater? (persons: string[]): Promise<unknown>
}

/**
 * Notes all keys that the log has now, and which were erased. Nothing is kept in memory but a batch.
 * @throws EventStoreUnavailable and errors of Postgres
 */
export async function noteKeysOfLog (options: WalkOptions): Promise<void> {
  const { pool, streams, signal, onProgress = () => {}, onLater = async () => {} } = options
  const ledger = new LedgerKeys(pool)
  let count = 0
  for await (const { keys, later, share } of keysOfLog(streams, signal)) {
    if (keys.length > 0) {
      await ledger.note(keys)
      await settle(pool, streams, keys)
    }
    if (later.length > 0) await onLater(later)
    count += keys.length
    onProgress(count, share)
  }
}

/**
 * What was encrypted anew is in the log twice, until a scavenge, and the ledger may have had either: whichever the
 * stream of the person shows is right.
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

/** Those of the log as it is now, batch by batch; of each key the newest that the batch says of it. */
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
