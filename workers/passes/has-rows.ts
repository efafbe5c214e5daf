// Tells whether work waits in a table, in one statement for all who look at one beat: most looks find nothing.
import type { Pool } from 'pg'
import { askedTogether } from '../../src/postgres/batcher.js'

const tables = ['moving_assistants', 'moving_endpoints', 'person_requests', 'webhook_recoveries'] as const

type WorkTable = typeof tables[number]

const text = `SELECT ${tables.map((table) => `EXISTS (SELECT FROM ledger.${table}) AS ${table}`).join(', ')}`

const look = askedTogether(async (pool): Promise<Map<WorkTable, boolean>> => {
  const { rows: [found] } = await pool.query<Record<WorkTable, boolean>>({ name: 'has-rows', text })
  return new Map(tables.map((table) => [table, found?.[table] ?? false]))
})

/** Whether any of the tables has rows. */
export async function hasRows (pool: Pool, ...asked: WorkTable[]): Promise<boolean> {
  return (await Promise.all(asked.map((table) => look(pool, table)))).includes(true)
}
