// Events of a type, and consumers that write down which of them they have handled.
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Test } from 'tap'
import { checkpointTable, Fenced, movedSql } from '../../src/subscriptions/checkpoint.js'
import type { Taken } from '../../src/log/follow.js'
import { type Consumer, runSubscription } from '../../src/subscriptions/run.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { noStream, type Streams } from '../../src/log/event-log.js'
import { eventually } from '../support/eventually.js'
import { keepingLog } from '../support/postgres/ledger.js'

export interface Handled {
  table: string
  ids (): Promise<string[]>
  stop (): Promise<void>
  log: ReturnType<typeof keepingLog>
}

export function consuming (pool: Pool, streams: Streams) {
  return {
    /** Appends events of this type, and insists while the store is away. */
    async append (type: string, count: number): Promise<string[]> {
      const ids = Array.from({ length: count }, () => randomUUID())
      for (const id of ids) {
        const event = { id, type, data: {}, metadata: {} }
        await eventually(() => streams.append(`test-${id}`, [event], noStream))
      }
      return ids
    },

    /** Runs a consumer that writes down the id of each event that it handles. */
    async consume (t: Test, type: string, before = async () => {}): Promise<Handled> {
      const table = `checkpoint_${type.toLowerCase()}`
      await pool.query(`CREATE TABLE IF NOT EXISTS handled_${type} (place serial, id uuid); ${checkpointTable(table)}`)
      const stopping = new AbortController()
      const log = keepingLog()
      const options = { streams, pool, holder: 'test', signal: stopping.signal, log }
      const running = runSubscription(recording(pool, type, table, before), options)
      const stop = async () => {
        stopping.abort()
        await running
      }
      t.teardown(stop)
      const ids = async () =>
        (await pool.query<{ id: string }>(`SELECT id FROM handled_${type} ORDER BY place`)).rows.map(({ id }) => id)
      return { table, stop, log, ids }
    }
  }
}

const recording = (pool: Pool, type: string, table: string, before: () => Promise<void>): Consumer => ({
  name: `test ${type}`,
  eventTypes: [type],
  open: async () => ({
    checkpointTable: table,
    write: ({ events, position }, from, epoch) => inTransaction(pool, async (tx) => {
      await moveCheckpoint(tx, table, { epoch, from, to: position, taken: events.at(-1) })
      for (const { id } of events) await tx.query(`INSERT INTO handled_${type} (id) VALUES ($1)`, [id])
      await before()
    })
  })
})

interface Move { epoch: bigint, from: bigint, to: bigint, taken?: Taken | undefined }

/** In the transaction that writes the rows. @throws Fenced */
export async function moveCheckpoint (tx: PoolClient, table: string, { epoch, from, to, taken }: Move): Promise<void> {
  const { rowCount } = await tx.query(
    `UPDATE ${table} SET ${movedSql(3)} WHERE position = $2 AND epoch = $3`, [to, from, epoch, taken?.id, taken?.position])
  if (rowCount !== 1) throw new Fenced(`another holder moved ${table}`)
}
