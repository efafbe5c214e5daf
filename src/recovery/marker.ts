// Writes into the log how far the dispatcher and the ids of this database have come.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { currentVersion } from '../domain/events.js'
import { markerStream, type DispatcherCheckpointed } from '../domain/marker/events.js'
import { noStream, type Streams } from '../event-store/streams.js'
import { BehindLog, explain, standingOf, type Standing } from './standing.js'

export interface MarkerOptions {
  pool: Pool
  streams: Pick<Streams, 'last' | 'append'>
  now?: () => Date
  /** Writes although nothing has moved since the last one. */
  always?: boolean
}

/**
 * Appends a marker when something has moved since the last one. It is noted first: after a crash in between it is
 * known as ours.
 * @returns whether one was written
 * @throws BehindLog, RevisionConflict when another process wrote one at the same time, EventStoreUnavailable, AppendOutcomeUnknown
 */
export async function writeMarker ({ pool, streams, now = () => new Date(), always = false }: MarkerOptions): Promise<boolean> {
  const standing = await standingOf(pool, streams)
  const { last, ids } = standing
  if (!standing.sends) throw new BehindLog(explain(standing))
  const data = markerData(standing, now())
  if (last && !always && isSaid(standing, data)) return false
  const id = randomUUID()
  await pool.query('INSERT INTO ledger.markers (id, sends, ids) VALUES ($1, true, $2)', [id, ids])
  const metadata = { schema_version: currentVersion('DispatcherCheckpointed') }
  const { revision, position } = await streams.append(markerStream, [{ id, type: 'DispatcherCheckpointed', data, metadata }], last?.revision ?? noStream)
  await pool.query('UPDATE ledger.markers SET revision = $2, position = $3 WHERE id = $1', [id, revision, position])
  await pool.query("DELETE FROM ledger.markers WHERE noted_at < now() - interval '30 days' AND id <> $1", [id])
  return true
}

/** Ids that the log knows of stay in it, also while the sequences are still behind them. */
function markerData ({ last, incarnation, checkpoint, given }: Standing, at: Date): DispatcherCheckpointed {
  return {
    incarnation,
    checkpoint: String(checkpoint),
    assistant_ids: Math.max(given.assistant, last?.data.assistant_ids ?? 0),
    lead_ids: Math.max(given.lead, last?.data.lead_ids ?? 0),
    at: at.toISOString()
  }
}

/** Whoever is restored beside the last marker is silent up to where it stands: more is said only by what comes later. */
function isSaid ({ last, checkpoint }: Standing, data: DispatcherCheckpointed): boolean {
  return last !== undefined && checkpoint <= last.position && data.incarnation === last.data.incarnation &&
    data.assistant_ids === last.data.assistant_ids && data.lead_ids === last.data.lead_ids
}
