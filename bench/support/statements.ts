// Counts the SQL statements of each consumer, as Postgres logs them.
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

export type Statements = Record<string, number>

/** A session belongs to what one of its statements names; the others of a role to the role. */
const named: Array<[role: string, text: RegExp, consumer: string]> = [
  ['worker', /queue\.|move_to_|add_job|FROM (job|meta)\b/, 'queue'],
  ['worker', /dispatcher_checkpoint/, 'dispatcher'],
  ['worker', /start-attempts|finish-attempts|acquire-slots/, 'deliveries']
]

/** Every session tells its role by its name. */
export const asRole = (databaseUrl: string, role: string) => {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', role)
  return url.href
}

/** The statements while `work` runs, by consumer, BEGIN and COMMIT included. @param logFile of Postgres */
export async function countStatements (pool: Pool, logFile: string, work: () => Promise<unknown>): Promise<Statements> {
  await setLogging(pool, "'all'", "'%a %p: '")
  const from = statSync(logFile).size
  await work()
  await setLogging(pool, "'none'", "''")
  return count(readFileSync(logFile).subarray(from).toString())
}

async function setLogging (pool: Pool, statements: string, prefix: string): Promise<void> {
  await pool.query(`ALTER SYSTEM SET log_statement = ${statements}`)
  await pool.query(`ALTER SYSTEM SET log_line_prefix = ${prefix}`)
  await pool.query('SELECT pg_reload_conf()')
  await delay(500) // until every session has heard it
}

function count (log: string): Statements {
  const sessions = new Map<string, { role: string, count: number, consumer: string | undefined }>()
  for (const { groups } of log.matchAll(/^(?<role>[^\n:]+?) (?<pid>\d+): LOG: {2}(statement|execute (?<name>\S+)): (?<text>.*(\n[\t ].*)*)/gm)) {
    const { role = '', pid = '', name = '', text = '' } = groups ?? {}
    const session = sessions.get(pid) ?? { role, count: 0, consumer: undefined }
    session.count += 1
    session.consumer ??= named.find(([of, pattern]) => of === role && pattern.test(`${name} ${text}`))?.[2]
    sessions.set(pid, session)
  }
  const counted: Statements = {}
  for (const { role, count, consumer = role } of sessions.values()) counted[consumer] = (counted[consumer] ?? 0) + count
  return counted
}
