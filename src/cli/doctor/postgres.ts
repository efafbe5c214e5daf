// Postgres: whether it answers, is one that we can work on, and has connections to spare.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { packageRoot } from '../../package-root.js'
import { endClient } from '../../postgres/end-client.js'
import { endsWithin } from '../../postgres/ends-within.js'
import { compareMigrations, makeAnew, OtherVersion } from '../../postgres/migrate.js'
import { openPool } from '../../postgres/pool.js'
import { postgresProblem } from '../../postgres/problems/in-words.js'
import { problem, runIfReachable, skipped, warning, type Check, type Finding, type Found } from './check.js'
import { placeOf } from '../../log/connection/client-url.js'
import { activity } from './postgres-activity.js'
import { connectionsLeft, settings } from './postgres-settings.js'

const connectWithinMs = 2_500
const goodbyeMs = 1_000
const oldestVersion = 14
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
  const [client, other] = [clientOf(url), clientOf(url)]
  const pool = openPool(url, { applicationName: 'ringledger doctor', max: 3, onError: () => {} })
  const findings = runIfReachable('Postgres', ['reachable', async () => {
    return await Promise.all([client.connect(), other.connect()]).then(() => placeOf(url), refused)
  }], () => [
    ...serverChecks(pool),
    ['privileges', () => privileges(pool, isEmbedded)],
    ...settings(pool),
    ['connections', () => connectionsLeft(pool, queueIn)],
    ...activity(pool),
    ['LISTEN', () => listens(client, other)],
    ['migrations', () => migrations(pool)]
  ], 'Check that it runs, and that DATABASE_URL, its password and its database are right.')
  const close = async () => {
    await Promise.all([endClient(client), endClient(other), endsWithin(goodbyeMs, pool.end())])
  }
  return { findings, close }
}

/** What Postgres itself said, with what mends that. */
function refused (error: unknown): Found {
  const [, found, mend] = /^(.*?)\. (.*)$/s.exec(postgresProblem(error, 'DATABASE_URL') ?? '') ?? []
  if (found === undefined || mend === undefined) throw error
  return problem(found, mend)
}

function clientOf (url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url, application_name: 'ringledger doctor', connectionTimeoutMillis: connectWithinMs
  })
  client.on('error', () => {}) // what is asked next reports it
  return client
}

const serverChecks = (pool: pg.Pool): Check[] => [
  ['version', async () => {
    const { rows: [row] } = await pool.query<{ server_version: string }>('SHOW server_version')
    const version = row?.server_version ?? ''
    const mend = `Move to Postgres ${oldestVersion} or later.`
    return Number.parseInt(version) < oldestVersion ? problem(version, mend) : version
  }],
  ['takes writes', async () => {
    const { rows: [row] } = await pool.query<{ standby: boolean, read_only: string }>(
      "SELECT pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') AS read_only")
    if (row?.standby) return problem('no: it is a standby', 'Set DATABASE_URL to the primary.')
    if (row?.read_only === 'on') return problem('no: default_transaction_read_only', 'Switch that off for the role.')
    return 'yes'
  }],
  ['clock', async () => {
    const before = Date.now()
    const { rows: [row] } = await pool.query<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms')
    const skew = Math.round((row?.ms ?? before) - (before + Date.now()) / 2)
    const found = `${Math.abs(skew)} ms ${skew < 0 ? 'behind' : 'ahead of'} this machine`
    const mend = 'Set both clocks by NTP.'
    if (Math.abs(skew) > wrongMs) return problem(found, mend)
    return Math.abs(skew) > uneasyMs ? warning(found, mend) : found
  }]
]

async function privileges (pool: pg.Pool, isEmbedded: boolean): Promise<Found> {
  const { rows: [row] } = await pool.query<{ role: string, superuser: boolean, creates: boolean, lacks: string[] }>(`
    SELECT current_user::text AS role, rolsuper AS superuser,
           has_database_privilege(current_database(), 'CREATE') AS creates,
           ARRAY(SELECT nspname::text FROM pg_namespace
                 WHERE nspname ~ '^(ledger|eventstore|queue|read_.*)$' AND NOT has_schema_privilege(oid, 'CREATE, USAGE')
                ) AS lacks
    FROM pg_roles WHERE rolname = current_user`)
  if (!row) return undefined
  const { role, superuser, creates, lacks } = row
  if (!creates) return problem(`${role} may not create schemas`, 'Let the role own the database, or GRANT CREATE ON DATABASE.')
  if (lacks.length > 0) return problem(`${role} may not use ${lacks.join(', ')}`, 'Let the role own these schemas.')
  if (superuser && !isEmbedded) {
    return warning(`${role} is a superuser`, 'Use a role that is not a superuser: to own the database is enough.')
  }
  return `${role} may create schemas and tables`
}

const heardWithinMs = 2_000

/** A transaction pooler hands a connection to somebody else between two statements, and the notice with it. */
async function listens (client: pg.Client, other: pg.Client): Promise<Found> {
  const channel = `ringledger_doctor_${randomUUID().replaceAll('-', '')}`
  const heard = new Promise<boolean>((resolve) => {
    client.once('notification', () => resolve(true))
    setTimeout(() => resolve(false), heardWithinMs).unref()
  })
  await client.query(`LISTEN ${channel}`)
  await other.query(`NOTIFY ${channel}`)
  if (await heard) return 'arrives: the connection is direct'
  return problem('nothing arrives: a transaction pooler stands between', 'Set DATABASE_URL to Postgres itself.')
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
