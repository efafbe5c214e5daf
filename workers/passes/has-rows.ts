// Tells whether work waits in a table, in one statement for all who look at one beat: most looks find nothing.
import type { Pool } from 'pg'
import { batcher } from '../../src/postgres/batcher.js'

const tables = ['moving_assistants', 'moving_endpoints', 'person_requests', 'webhook_recoveries'] as const

type WorkTable = typeof tables[number]
type Look = (table: WorkTable) => Promise<boolean>

const text = `SELECT ${tables.map((table) => `EXISTS (SELECT FROM ledger.${table}) AS ${table}`).join(', ')}`
const looks = new WeakMap<Pool, Look>()

/** Whether any of the tables has rows. */
export async function hasRows (pool: Pool, ...asked: WorkTable[]): Promise<boolean> {
  const look = looks.get(pool) ?? batcher({ ...batchesOn(pool), limit: 100 })
  looks.set(pool, look)
  return (await Promise.all(asked.map(look))).includes(true)
}

function batchesOn (pool: Pool) {
  return {
    async runBatch (): Promise<Map<WorkTable, boolean>> {
      const { rows: [found] } = await pool.query<Record<WorkTable, boolean>>({ name: 'has-rows', text })
      return new Map(tables.map((table) => [table, found?.[table] ?? false]))
    },
    runOne: async () => false,
    isOfOne: () => false // what fails fails for all of them
  }
}
