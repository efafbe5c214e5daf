// Writes into the log how far the dispatcher and the ids of this database have come.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { assertSound, currentVersion, markerStream, type DispatcherCheckpointed } from '../domain/events.js'
import { believedId, idKinds, type IdKind } from '../domain/json.js'
import type { Streams } from '../log/event-log.js'
import { type MarkedLog, BehindLog, explainBehind, readDatabaseState, type DatabaseState } from './database-state.js'
import { refuseOtherLog } from './other-log.js'

export interface MarkerOptions {
  pool: Pool
  streams: MarkedLog & Pick<Streams, 'head' | 'append' | 'limitOf'>
  /** Writes although nothing has changed since the last marker. */
  always?: boolean
}

/**
 * Appends a marker when something has changed since the last one. The database notes it first: after a crash in
 * between, the marker is known as ours.
 * @returns whether one was written
 * @throws BehindLog; OtherLog when the log ends before the checkpoint; RevisionConflict when another process wrote one
 *   at the same time; EventStoreUnavailable; AppendOutcomeUnknown
 */
export async function writeMarker ({ pool, streams, always = false }: MarkerOptions): Promise<boolean> {
  const state = await readDatabaseState(pool, streams)
  if (!state.maySend) throw new BehindLog(explainBehind(state))
  await refuseOtherLog(pool, streams, [])
  const data = markerData(state, new Date())
  if (!always && addsNothing(state, data)) return false
  assertSound({ type: 'DispatcherCheckpointed', data })
  const id = randomUUID()
  await pool.query(
    'INSERT INTO ledger.markers (id, calls_known, ids_passed) VALUES ($1, true, $2)', [id, state.mayGiveIds])
  const metadata = { schema_version: currentVersion('DispatcherCheckpointed') }
  const event = { id, type: 'DispatcherCheckpointed', data, metadata }
  const { revision, position } = await streams.append(markerStream, [event], state.streamRevision)
  await pool.query('UPDATE ledger.markers SET revision = $2, position = $3 WHERE id = $1', [id, revision, position])
  await pool.query("DELETE FROM ledger.markers WHERE noted_at < now() - interval '30 days' AND id <> $1", [id])
  return true
}

/** The highest ids of the last marker stay, also while the sequences are behind them. */
function markerData ({ last, databaseId, checkpoint, givenIds }: DatabaseState, at: Date): DispatcherCheckpointed {
  const highest = (kind: IdKind) => Math.max(believedId(givenIds[kind]), last?.ids[kind] ?? 0)
  return {
    incarnation: databaseId,
    checkpoint: String(checkpoint),
    assistant_ids: highest('assistant'),
    lead_ids: highest('lead'),
    campaign_ids: highest('campaign'),
    phone_number_ids: highest('phone_number'),
    api_key_ids: highest('api_key'),
    blacklist_ids: highest('blacklist'),
    at: at.toISOString()
  }
}

/**
 * A database that is restored beside the last marker skips the calls up to that marker's position. So a checkpoint that
 * has not passed this position needs no new marker.
 */
function addsNothing ({ last, checkpoint }: DatabaseState, data: DispatcherCheckpointed): boolean {
  return last !== undefined && checkpoint <= last.position && data.incarnation === last.data.incarnation &&
    idKinds.every((kind) => data[`${kind}_ids`] === last.ids[kind])
}
