// Settings of Postgres that cost data or break off work, and how many connections are left.
import type pg from 'pg'
import { problem, warning, type Check, type Found } from './check.js'

const safety = ['fsync', 'synchronous_commit']
const limits = ['statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout']

export const settings = (pool: pg.Pool): Check[] => [
  ['durability', () => durability(pool)],
  ['time limits', () => timeLimits(pool)]
]

async function valuesOf (pool: pg.Pool, names: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ name: string, setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY($1)', [names])
  return new Map(rows.map(({ name, setting }) => [name, setting]))
}

async function durability (pool: pg.Pool): Promise<Found> {
  const values = await valuesOf(pool, safety)
  const off = [...values].filter(([, value]) => value === 'off').map(([name]) => name)
  if (off.length === 0) return [...values].map(([name, value]) => `${name} ${value}`).join(', ')
  return problem(`${off.join(' and ')} off: a crash takes what was acknowledged`, `Switch ${off.join(' and ')} on.`)
}

/** Migrations and replays take long; what needs a limit sets its own. */
async function timeLimits (pool: pg.Pool): Promise<Found> {
  const set = [...await valuesOf(pool, limits)].filter(([, value]) => value !== '0')
  if (set.length === 0) return 'none'
  return warning(set.map(([name, value]) => `${name} ${value} ms`).join(', '),
    `They break off migrations, replays and LISTEN: ALTER ROLE … SET ${set[0]?.[0]} = 0.`)
}

/** Of the process that takes the most, a worker, with its queue in Redis or in Postgres: see docs/operations.md. */
export const mostOfAProcess = { redis: 41, postgres: 57 }

interface ConnectionsRow { most: number, used: number, role_limit: number, role_used: number }

export async function connectionsLeft (pool: pg.Pool, queueIn: keyof typeof mostOfAProcess): Promise<Found> {
  const { rows: [row] } = await pool.query<ConnectionsRow>(`
    SELECT (SELECT sum(CASE name WHEN 'max_connections' THEN 1 ELSE -1 END * setting::integer)::integer FROM pg_settings
            WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) AS most,
           count(*)::integer AS used, count(*) FILTER (WHERE usename = current_user)::integer AS role_used,
           (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit
    FROM pg_stat_activity WHERE backend_type = 'client backend'`)
  if (!row) return undefined
  const ofRole = row.role_limit < 0 ? Infinity : row.role_limit - row.role_used
  const free = Math.min(row.most - row.used, ofRole)
  const most = mostOfAProcess[queueIn]
  const found = `${free} free; a process takes ${most} at most`
  const mend = ofRole < row.most - row.used ? 'Raise CONNECTION LIMIT of the role.' : 'Raise max_connections.'
  return free < most ? warning(found, mend) : found
}
