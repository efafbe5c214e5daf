// Repairs that operators run after a restore. `ids` compares the id sequences with the log and raises them above it.
// `adopt` follows a log from its beginning that was moved, or is older than what was read of it.
import type { Pool, PoolClient } from 'pg'
import { tryDecode, type DomainEvent, type EventType } from '../domain/events.js'
import { forEachKind, idKinds, largestId, type IdKind } from '../domain/json.js'
import type { Streams } from '../log/event-log.js'
import { inTransaction } from '../postgres/transaction.js'
import { explainBehind, readDatabaseState, writeMarker, type Marker, type MarkerOptions } from './markers.js'
import { dispatcherCheckpoint } from './same-log.js'

interface SequenceState {
  name: IdKind
  /** The highest id given out. */
  given: number
  /** The highest id in the log; 0 for none. */
  in_log: number
  /** The highest id that the last marker knows of; 0 for none. */
  in_marker: number
}

export interface IdsState {
  sequences: SequenceState[]
  /** Whether ids may be given out. */
  ok: boolean
}

/** Returns the highest id that an event has used, and its sequence; each projection has one such function. */
type SeesIds = (event: DomainEvent) => { sequence: string, id: number } | undefined
type Seeing = readonly { idsSeen?: SeesIds }[]

export type OnProgress = (progress: { events: number, position: bigint, head: bigint }) => void

const never = new AbortController().signal

/** Compares the sequences with the whole log. @throws EventStoreUnavailable, errors of Postgres, `signal.reason` */
export async function checkIds (
  pool: Pool, streams: Streams, seeing: Seeing, onProgress: OnProgress = () => {}, signal = never
): Promise<IdsState> {
  return await compareIds(pool, streams, await highestIds(streams, seeing, onProgress, signal))
}

/**
 * Raises each sequence above every id that the log and its last marker know, and notes that marker. It lowers only a
 * sequence that was set by hand beyond the largest id, from which no id can be given.
 */
export async function reseedIds (
  pool: Pool, streams: Streams, seeing: Seeing, onProgress: OnProgress = () => {}, signal = never
): Promise<IdsState> {
  const highest = await highestIds(streams, seeing, onProgress, signal)
  const { sequences } = await compareIds(pool, streams, highest)
  for (const { name, given, in_log: inLog, in_marker: inMarker } of sequences) {
    const known = Math.max(inLog, inMarker)
    if (given > largestId) {
      await pool.query('SELECT setval($1::regclass, $2)', [`ledger.${name}_ids`, Math.max(known, 1)])
    }
    await pool.query('SELECT ledger.raise_ids($1::regclass, $2)', [`ledger.${name}_ids`, known])
  }
  const { last } = await readDatabaseState(pool, streams)
  if (last) {
    await pool.query(`
      INSERT INTO ledger.markers (id, revision, position, ids_passed) VALUES ($1, $2, $3, true)
      ON CONFLICT (id) DO UPDATE SET ids_passed = true`, [last.id, last.revision, last.position])
  }
  return await compareIds(pool, streams, highest)
}

async function compareIds (pool: Pool, streams: Streams, highest: Record<IdKind, number>): Promise<IdsState> {
  const { last, givenIds, mayGiveIds } = await readDatabaseState(pool, streams)
  const sequences = idKinds.map((name): SequenceState =>
    ({ name, given: givenIds[name], in_log: highest[name], in_marker: last?.ids[name] ?? 0 }))
  const isPast = ({ given, in_log: inLog, in_marker: inMarker }: SequenceState) =>
    given >= inLog && given >= inMarker && given <= largestId
  return { sequences, ok: mayGiveIds && sequences.every(isPast) }
}

const telling: readonly EventType[] = [
  'AssistantCreated', 'LeadCreated', 'LeadUpdated', 'CampaignCreated', 'PhoneNumberAdded', 'PhoneNumberClaimed',
  'ApiKeyCreated', 'PhoneNumberBlacklisted', 'LeadErased', 'BlacklistEntryErased'
]

async function highestIds (
  { head, follow }: Streams, seeing: Seeing, onProgress: OnProgress, signal: AbortSignal
): Promise<Record<IdKind, number>> {
  const highest = new Map<string, number>()
  const found = () => forEachKind((kind) => highest.get(`ledger.${kind}_ids`) ?? 0)
  const end = await head()
  let events = 0
  if (end === 0n) return found()
  for await (const batch of follow({ after: 0n, eventTypes: telling, signal })) {
    for (const stored of batch.events) {
      const { event } = tryDecode(stored) // an unreadable event has no row
      for (const { idsSeen } of event ? seeing : []) {
        const seen = event && idsSeen?.(event)
        if (seen) highest.set(seen.sequence, Math.max(highest.get(seen.sequence) ?? 0, seen.id))
      }
    }
    events += batch.events.length
    onProgress({ events, position: batch.position, head: end })
    if (batch.position >= end) return found()
  }
  signal.throwIfAborted()
  return found()
}

/** A running role would resume from positions that mean something else in this log. */
class RoleRuns extends Error {
  override readonly name = 'RoleRuns'
}

/**
 * Drops the read models, which the next start rebuilds, and all former positions. The dispatcher reads the log again
 * from its beginning: it skips calls that have a delivery and sends those that have none.
 * @returns where the log ends, and what is left to do if the database is behind the log as well
 * @throws RoleRuns, EventStoreUnavailable
 */
export async function adoptLog (pool: Pool, streams: MarkerOptions['streams']) {
  const { last } = await readDatabaseState(pool, streams)
  const head = await streams.head()
  await inTransaction(pool, async (tx) => {
    await refuseWhileRunning(tx)
    await forgetPositions(tx, head, last)
  })
  const state = await readDatabaseState(pool, streams)
  if (state.maySend) await writeMarker({ pool, streams, always: true })
  return { head, problem: explainBehind(state) }
}

async function refuseWhileRunning (tx: PoolClient): Promise<void> {
  const { rows: [lease] } = await tx.query<{ name: string, holder: string }>(
    'SELECT name, holder FROM ledger.leases WHERE expires_at > clock_timestamp() LIMIT 1')
  if (!lease) return
  throw new RoleRuns(`${lease.holder} still holds the lease "${lease.name}": ` +
    'stop every role first; after a kill -9 it is over within 4 seconds')
}

async function forgetPositions (tx: PoolClient, head: bigint, last: Marker | undefined): Promise<void> {
  const { rows } = await tx.query<{ schema: string }>(
    "SELECT format('%I', nspname) AS schema FROM pg_namespace WHERE nspname LIKE 'read\\_%'")
  for (const { schema } of rows) await tx.query(`DROP SCHEMA ${schema} CASCADE`)
  await tx.query('DELETE FROM ledger.generations')
  await tx.query("DELETE FROM ledger.parked_events WHERE consumer LIKE 'read\\_%'")
  // The dispatcher's state of leads stays: it derives from calls, and calls with a delivery are skipped.
  await tx.query('TRUNCATE ledger.dispatch_assistants, ledger.dispatch_campaigns')
  await tx.query(`
    UPDATE ledger.this_database
    SET reread_until = $1, skip_until = CASE WHEN skip_until > c.position THEN $2::bigint ELSE 0 END
    FROM ${dispatcherCheckpoint} c`, [head, last?.position ?? 0n])
  await tx.query(`UPDATE ${dispatcherCheckpoint} SET position = 0, event_id = NULL, event_position = NULL`)
  await tx.query('UPDATE ledger.identity_count SET position = 0, calls = 0')
  await tx.query('DELETE FROM ledger.markers WHERE id IS DISTINCT FROM $1', [last?.id])
  await tx.query('UPDATE ledger.markers SET revision = NULL, position = NULL')
  await tx.query("SELECT pg_notify('ringledger_checkpoint', 'replaced')") // invalidates cached positions
}
