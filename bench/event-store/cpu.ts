// The CPU time of processes, as Linux counts it.
import { readFileSync } from 'node:fs'
import pg from 'pg'

const ticksPerSecond = 100

/** In seconds, so far. */
export function cpuOf (pid: number): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
    .slice(11, 13).map(Number)
  return (user + system) / ticksPerSecond
}

/** The CPU time of every session of a database, by the process that serves it. */
export async function sessionsOf (connectionString: string): Promise<Map<number, number>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>(`
    select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
  await client.end()
  return new Map(rows.map(({ pid }) => [pid, cpuOf(pid)]))
}
