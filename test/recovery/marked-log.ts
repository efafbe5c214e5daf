// Logs and databases beside them, for what markers in the log say of both.
import { randomUUID } from 'node:crypto'
import { writeMarker, type MarkerOptions } from '../../src/recovery/marker.js'
import { refuseOtherLog } from '../../src/recovery/other-log.js'
import { readDatabaseState } from '../../src/recovery/database-state.js'
import { noStream, EventLog, type Streams } from '../../src/log/event-log.js'
import type { Teardown } from '../support/teardown.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
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
      const { pool } = await scratchLedger(t, postgres)
      await pool.query('UPDATE ledger.this_database SET id = gen_random_uuid()') // scratch databases are copies of one
      return {
        pool,
        write: (given: Partial<MarkerOptions> = {}) => writeMarker({ pool, streams, ...given }),
        state: () => readDatabaseState(pool, streams),
        moveTo: (position: bigint) => pool.query('UPDATE ledger.dispatcher_checkpoint SET position = $1', [position]),
        hold: (others: Streams = streams) => refuseOtherLog(pool, others, [])
      }
    }
  }
}

/** An event of another program. */
export const happen = (streams: Streams) =>
  streams.append(`test-${randomUUID()}`, [{ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }], noStream)
