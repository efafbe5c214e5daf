// Counts the SQL statements of each process, as Postgres logs them.
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

/** By the name that a process gives to its sessions. */
export type Statements = Record<string, number>

/** Sessions of BullMQ, whose statements are not ours: they are shown, and left out of the sum. */
export const queueName = 'ringledger queue'

/** How a worker names sessions of its own: after what they do, and itself. */
const ofWorker = /^[a-z]+-[0-9a-f-]{36}$/

/** Every session tells its role by its name. */
export const asRole = (databaseUrl: string, role: string) => {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', role)
  return url.href
}

/** The statements while `work` runs, BEGIN and COMMIT included. @param logFile of Postgres */
export async function countStatements (pool: Pool, logFile: string, work: () => Promise<unknown>): Promise<Statements> {
  await setLogging(pool, "'all'", "'%a %p: '")
  const from = statSync(logFile).size
  await work()
  await setLogging(pool, "'none'", "''")
  const counted: Statements = {}
  const log = readFileSync(logFile).subarray(from).toString()
  for (const [, name = ''] of log.matchAll(/^([^\n:]+?) \d+: LOG: {2}(?:statement|execute \S+): /gm)) {
    const role = ofWorker.test(name) ? 'worker' : name
    counted[role] = (counted[role] ?? 0) + 1
  }
  return counted
}

async function setLogging (pool: Pool, statements: string, prefix: string): Promise<void> {
  await pool.query(`ALTER SYSTEM SET log_statement = ${statements}`)
  await pool.query(`ALTER SYSTEM SET log_line_prefix = ${prefix}`)
  await pool.query('SELECT pg_reload_conf()')
  await delay(500) // until every session has heard it
}
