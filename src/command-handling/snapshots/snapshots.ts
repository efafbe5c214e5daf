// What long streams added up to, in the ledger: for a process that does not know them.
import type { Pool } from 'pg'
import type { Folded } from '../folded-stream.js'

/** What a stream added up to, and the event that it ends with. */
export interface Snapshot { folded: Folded<unknown>, eventId: string }

export interface Snapshots {
  /** Nothing where there is none by this version of the fold. */
  find (stream: string, foldVersion: number): Promise<Snapshot | undefined>
  /** Nobody waits for it: without it, the stream is read from its beginning. */
  keep (stream: string, foldVersion: number, snapshot: Snapshot): void
}

/** A larger state is not kept, in bytes of JSON. Prompts have 64 KiB at most. */
const mostBytes = 512 * 1024

interface Row { revision: string, event_id: string, state_revision: string, position: string, state: unknown }

export function snapshotsIn (pool: Pool): Snapshots {
  return {
    async find (stream, foldVersion) {
      const { rows: [row] } = await pool.query<Row>({
        name: 'find-snapshot',
        text: `
          SELECT revision, event_id, state_revision, position, state FROM ledger.stream_snapshots
          WHERE stream = $1 AND fold_version = $2`,
        values: [stream, foldVersion]
      })
      return row && snapshotOf(row)
    },
    keep (stream, foldVersion, { folded, eventId }) {
      const { state, revision, stateRevision, position } = folded
      const json = JSON.stringify(state)
      if (json === undefined || Buffer.byteLength(json) > mostBytes) return
      pool.query({
        name: 'keep-snapshot',
        text: `
          INSERT INTO ledger.stream_snapshots (stream, fold_version, revision, event_id, state_revision, position, state)
          VALUES ($1, $2, $3, $4, $5, $6, $7)
          ON CONFLICT (stream) DO UPDATE SET
            fold_version = excluded.fold_version, revision = excluded.revision, event_id = excluded.event_id,
            state_revision = excluded.state_revision, position = excluded.position, state = excluded.state, made_at = now()`,
        values: [stream, foldVersion, String(revision), eventId, String(stateRevision), String(position), json]
      }).catch(() => {})
    }
  }
}

const snapshotOf = ({ revision, event_id: eventId, state_revision, position, state }: Row): Snapshot => ({
  folded: { state, revision: BigInt(revision), stateRevision: BigInt(state_revision), position: BigInt(position) },
  eventId
})
