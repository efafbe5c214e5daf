// Logs and databases beside them, for what markers in the log say of both.
import { randomUUID } from 'node:crypto'
import { type MarkerOptions, readDatabaseState, writeMarker } from '../../src/recovery/markers.js'
import { refuseOtherLog } from '../../src/recovery/same-log.js'
import { noStream, EventLog, type Streams } from '../../src/log/event-log.js'
import type { Teardown } from '../support/teardown.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import type { Taken } from '../../src/log/follow.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'

export async function markedLogs (t: Teardown) {
  const postgres = await scratchPostgres(t)
  let logs = 0
  return {
    async log (t: Teardown): Promise<Streams> {
      return new EventLog((await scratchEventStore(t, { postgres, schema: `log_${++logs}` })).connection)
    },
    /** A database of its own, beside `streams`. */
    async database (t: Teardown, streams: Streams) {
      const { pool } = await scratchLedger(t)
      await pool.query('UPDATE ledger.this_database SET id = gen_random_uuid()') // scratch databases are copies of one
      return {
        pool,
        write: (given: Partial<MarkerOptions> = {}) => writeMarker({ pool, streams, ...given }),
        state: () => readDatabaseState(pool, streams),
        moveTo: (position: bigint) => pool.query('UPDATE ledger.dispatcher_checkpoint SET position = $1', [position]),
        /** The dispatcher has read up to this event. */
        take: ({ id, position }: Taken) => pool.query(
          'UPDATE ledger.dispatcher_checkpoint SET position = $1, event_position = $1, event_id = $2', [position, id]),
        hold: (others: Streams = streams) => refuseOtherLog(pool, others, [])
      }
    }
  }
}

/** An event of another program. */
export async function happen (streams: Streams) {
  const id = randomUUID()
  return { id, ...await streams.append(`test-${id}`, [{ id, type: 'Happened', data: {}, metadata: {} }], noStream) }
}
