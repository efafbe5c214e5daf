// Postgres: whether it answers, is one that we can work on, and has connections to spare.
import type pg from 'pg'
import { packageRoot } from '../../package-root.js'
import { endClient } from '../../postgres/end-client.js'
import { endsWithin } from '../../postgres/ends-within.js'
import { compareMigrations, makeAnew, OtherVersion } from '../../postgres/migrate.js'
import { assertListens, lookAtServer, openClient, openPool, tooOld, type Server } from '../../postgres/pool.js'
import { reachablePostgres } from '../../services/back-end-unreachable.js'
import { problem, runIfReachable, skipped, warning, type Finding, type Found } from './check.js'
import { placeOf } from '../../log/client-url.js'
import { activity } from './postgres-activity.js'
import { connectionsLeft, settings } from './postgres-settings.js'

const connectWithinMs = 2_500
const goodbyeMs = 1_000
/** Clocks that differ by more than that make logs hard to read; by far more, tokens and webhooks are refused. */
const [uneasyMs, wrongMs] = [2_000, 60_000]

export interface OpenPostgres {
  findings: Promise<Finding[]>
  close (): Promise<void>
}

export interface PostgresUse {
  /** Its superuser is ours. */
  isEmbedded: boolean
  queueIn: 'redis' | 'postgres'
}

export function checkPostgres (url: string, { isEmbedded, queueIn }: PostgresUse): OpenPostgres {
  const clients: pg.Client[] = []
  const open = async () => {
    const client = openClient(url, 'ringledger doctor', connectWithinMs)
    clients.push(client)
    await client.connect()
    return client
  }
  const pool = openPool(url, { applicationName: 'ringledger doctor', max: 3, onError: () => {} })
  let server: Server | undefined
  /** In the words of a start, which looks at the same. */
  const unless = (code: string, well: () => Found | Promise<Found>) => reachablePostgres({ url }, async () => {
    const trouble = server?.troubles.find((each) => each.code === code)
    if (trouble) throw trouble
    return await well()
  })
  const findings = runIfReachable('Postgres', ['reachable', () => reachablePostgres({ url }, async () => {
    const [client, other] = await Promise.all([open(), open()])
    server = await lookAtServer(client)
    await assertListens(client, other)
    return placeOf(url)
  })], () => [
    ['version', () => unless(tooOld, () => server?.version)],
    ['takes writes', () => unless('25006', () => 'yes')],
    ['clock', () => clock(pool)],
    ['privileges', () => unless('42501', () => privileges(pool, isEmbedded))],
    ...settings(pool),
    ['connections', () => connectionsLeft(pool, queueIn)],
    ...activity(pool),
    ['LISTEN', async () => 'arrives: the connection is direct'],
    ['migrations', () => migrations(pool)]
  ], 'Check that it runs, and that DATABASE_URL leads to it.')
  const close = async () => { await Promise.all([...clients.map(endClient), endsWithin(goodbyeMs, pool.end())]) }
  return { findings, close }
}

async function clock (pool: pg.Pool): Promise<Found> {
  const before = Date.now()
  const { rows: [row] } = await pool.query<{ ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms')
  const skew = Math.round((row?.ms ?? before) - (before + Date.now()) / 2)
  const found = `${Math.abs(skew)} ms ${skew < 0 ? 'behind' : 'ahead of'} this machine`
  const mend = 'Set both clocks by NTP.'
  if (Math.abs(skew) > wrongMs) return problem(found, mend)
  return Math.abs(skew) > uneasyMs ? warning(found, mend) : found
}

async function privileges (pool: pg.Pool, isEmbedded: boolean): Promise<Found> {
  const { rows: [row] } = await pool.query<{ role: string, superuser: boolean, lacks: string[] }>(`
    SELECT current_user::text AS role, rolsuper AS superuser,
           ARRAY(SELECT nspname::text FROM pg_namespace
                 WHERE nspname ~ '^(ledger|eventstore|queue|read_.*)$' AND NOT has_schema_privilege(oid, 'CREATE, USAGE')
                ) AS lacks
    FROM pg_roles WHERE rolname = current_user`)
  if (!row) return undefined
  const { role, superuser, lacks } = row
  if (lacks.length > 0) return problem(`${role} may not use ${lacks.join(', ')}`, 'Let the role own these schemas.')
  if (superuser && !isEmbedded) {
    return warning(`${role} is a superuser`, 'Use a role that is not a superuser: to own the database is enough.')
  }
  return `${role} may create schemas and tables`
}

async function migrations (pool: pg.Pool): Promise<Found> {
  const compared = await compareMigrations(pool, packageRoot).catch((error: unknown) => {
    if (error instanceof OtherVersion) return undefined
    throw error
  })
  if (!compared) return problem('of another version before 0.1.0', makeAnew)
  const { applied, later, missing } = compared
  if (applied.length === 0) return skipped('none yet: the first start makes the tables')
  const namesOf = (all: Array<{ name: string }>) => all.map(({ name }) => name).join(', ')
  if (later.length > 0) {
    return warning(`${namesOf(later)} of another release`, 'Make sure that this release may run beside that one.')
  }
  if (missing.length === 0) return `all ${applied.length} are there`
  return warning(`to be run: ${namesOf(missing)}`, 'The next start runs them, or `ringledger migrate` now.')
}
