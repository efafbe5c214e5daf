// Reads parked events of the dispatcher again, after a release that can read them or a lead that came later.
import type { Pool, PoolClient } from 'pg'
import { dispatcherCheckpoint } from '../../src/recovery/database-state.js'
import { notHidden, readParts } from '../../src/log/read.js'
import type { Streams } from '../../src/log/event-log.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { followSettings } from '../deliveries/follow-settings.js'
import { lostLead } from './dispatch-call.js'
import { readEvent, type ReadEvent } from './read-event.js'
import { saveState } from './state/save.js'
import { loadState, mostLoaded, TooLarge } from './state/load.js'
import { applyEvent } from './state/apply-event.js'
import type { DispatchState } from './state/state.js'

/** How many events are no longer parked, or why they still are. */
export type Retried = { events: number, refused?: undefined } | { refused: string }

/**
 * All parked events of the stream, or none. What they and the later events of the stream say is known from then on, as
 * far as the dispatcher has come. A call keeps the delivery that it has: nothing is sent.
 */
export async function retryParked (
  { pool, streams }: { pool: Pool, streams: Pick<Streams, 'visit'> }, stream: string
): Promise<Retried> {
  try {
    return await inTransaction(pool, (tx) => retryIn(tx, streams, stream))
  } catch (error) {
    if (error instanceof StaysParked) return { refused: error.message }
    throw error
  }
}

/** Takes back what was made known of the stream so far. */
class StaysParked extends Error {}

async function retryIn (tx: PoolClient, streams: Pick<Streams, 'visit'>, stream: string): Promise<Retried> {
  const { position: reached } = await touchCheckpoint(tx, dispatcherCheckpoint)
  const revisions = await parkedRevisions(tx, stream)
  const [from] = revisions
  if (from === undefined) return { events: 0 }
  const parked = new Set(await notHidden(streams, stream, revisions))
  for await (const part of readParts(streams, stream, { from, to: BigInt(Number.MAX_SAFE_INTEGER) })) {
    const passed = part.filter(({ position }) => position <= reached)
    await retryPart(tx, passed.map(readEvent), (revision) => parked.delete(revision))
    if (passed.length < part.length) break
  }
  const [missing] = parked
  if (missing !== undefined) throw new StaysParked(`the log has no event ${stream}@${missing}`)
  await tx.query(`DELETE FROM ledger.parked_events WHERE ${ofStream}`, [stream])
  return { events: revisions.length }
}

/** In halves, where what the events read is too large. */
async function retryPart (
  tx: PoolClient, read: ReadEvent[], isParked: (revision: bigint) => boolean
): Promise<void> {
  const state = await stateFor(tx, read)
  if (!state) {
    const middle = Math.ceil(read.length / 2)
    await retryPart(tx, read.slice(0, middle), isParked)
    return await retryPart(tx, read.slice(middle), isParked)
  }
  const retried = read.filter(({ stored }) => isParked(stored.revision))
  const problem = retried.map((each) => problemOf(state, each)).find(Boolean)
  if (problem !== undefined) throw new StaysParked(problem)
  for (const { stored, event, callId } of read) if (event && callId === undefined) applyEvent(state, stored, event)
  await saveState(tx, state)
  await followSettings(tx, [...state.rerouted.values()])
}

/** Nothing when the rows that the events read are too large together. */
async function stateFor (tx: PoolClient, read: ReadEvent[]): Promise<DispatchState | undefined> {
  const most = read.length > 1 ? mostLoaded : undefined
  try {
    return (await loadState(tx, read.flatMap(({ event }) => event ?? []), [], most)).state
  } catch (error) {
    if (error instanceof TooLarge) return undefined
    throw error
  }
}

const ofStream = "consumer = 'dispatcher' AND stream_digest = ledger.digest_of($1)"

async function parkedRevisions (tx: PoolClient, stream: string): Promise<bigint[]> {
  const { rows } = await tx.query<{ revision: string }>(
    `SELECT revision FROM ledger.parked_events WHERE ${ofStream} ORDER BY revision`, [stream])
  return rows.map(({ revision }) => BigInt(revision))
}

function problemOf (state: DispatchState, { event, callId, problem }: ReadEvent): string | undefined {
  if (callId === undefined || event?.type !== 'CallCompleted') return problem
  return lostLead(state, event.data)
}

/** Gives one parked event up for good. @returns whether it was parked */
export async function skipParked (pool: Pool, stream: string, revision: bigint, reason: string): Promise<boolean> {
  const { rowCount } = await pool.query(`
    WITH removed AS (DELETE FROM ledger.parked_events WHERE ${ofStream} AND revision = $2 RETURNING stream, revision)
    INSERT INTO ledger.skipped_events (projection, stream, revision, reason)
    SELECT 'dispatcher', stream, revision, $3 FROM removed
    ON CONFLICT (projection, stream_digest, revision) DO UPDATE SET reason = excluded.reason`, [stream, revision, reason])
  return rowCount === 1
}
