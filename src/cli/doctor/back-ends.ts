// Checks that Postgres serves us and has spare connections, that the event store has a leader and gives our login the
// rights that it needs and no more, and that Redis answers.
import type pg from 'pg'
import { packageRoot } from '../../package-root.js'
import {
  endClient, assertListens, lookAtServer, openClient, openPool, tooOld, type Server
} from '../../postgres/pool.js'
import { endsWithin } from '../../timing.js'
import { compareMigrations, makeAnew, OtherVersion } from '../../postgres/migrate.js'
import { reachablePostgres, reachableHead } from '../../services/back-end-unreachable.js'
import type { Finding } from '../../ops/answers.js'
import { problem, runIfReachable, skipped, warning, type Check, type Found } from './check.js'
import { placeOf, unusedOf } from '../../log/client-url.js'
import { randomUUID } from 'node:crypto'
import { aboutServer, lastScavenges, type AboutServer } from '../../log/about-server.js'
import { EventStoreConnection } from '../../log/connection.js'
import { reasonOf, RevisionConflict } from '../../log/errors.js'
import { EventLog, type Streams } from '../../log/event-log.js'
import { findLimitedStreams } from '../../recovery/same-log.js'
import { Redis } from 'ioredis'
import { troubleIn, whyAway, type Trouble } from '../../../workers/queue/redis-trouble.js'

const connectWithinMs = 2_500
const goodbyeMs = 1_000
/** A larger clock skew makes logs hard to read; beyond the second value, tokens and webhooks are refused. */
const [uneasyMs, wrongMs] = [2_000, 60_000]

/** @param isEmbedded then a superuser is fine: it is our own */
export function checkPostgres (url: string, isEmbedded: boolean, queueIn: keyof typeof mostOfAProcess) {
  const clients: pg.Client[] = []
  const open = async () => {
    const client = openClient(url, 'ringledger doctor', connectWithinMs)
    clients.push(client)
    await client.connect()
    return client
  }
  const pool = openPool(url, { applicationName: 'ringledger doctor', max: 1, onError: () => {} })
  let server: Server | undefined
  /** Reports in the same words as a start, which checks the same. */
  const unless = (code: string, well: () => Found | Promise<Found>) => reachablePostgres(url, async () => {
    const trouble = server?.troubles.find((each) => each.code === code)
    if (trouble) throw trouble
    return await well()
  })
  const findings = runIfReachable('Postgres', ['reachable', () => reachablePostgres(url, async () => {
    const [client, other] = await Promise.all([open(), open()])
    server = await lookAtServer(client)
    await assertListens(client, other)
    return placeOf(url)
  })], () => [
    ['version', () => unless(tooOld, () => server?.version)],
    ['takes writes', () => unless('25006', () => 'yes')],
    ['clock', () => clock(pool)],
    ['privileges', () => unless('42501', () => privileges(pool, isEmbedded))],
    ['durability', () => durability(pool)],
    ['time limits', () => timeLimits(pool)],
    ['connections', () => connectionsLeft(pool, queueIn)],
    ['locks', () => locks(pool)],
    ['open transactions', () => openTransactions(pool)],
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

// Settings that lose data or interrupt work, and the number of free connections.

const safety = ['fsync', 'synchronous_commit']
const limits = ['statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout']

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

/** No limit is right: migrations and replays take long, and statements that need a limit set their own. */
async function timeLimits (pool: pg.Pool): Promise<Found> {
  const set = [...await valuesOf(pool, limits)].filter(([, value]) => value !== '0')
  if (set.length === 0) return 'none'
  return warning(set.map(([name, value]) => `${name} ${value} ms`).join(', '),
    `They break off migrations, replays and LISTEN: ALTER ROLE … SET ${set[0]?.[0]} = 0.`)
}

/** Connections of a worker, which takes the most, by where its queue is: see docs/operations.md. */
export const mostOfAProcess = { redis: 41, postgres: 52 }

type ConnectionsRow = Record<'most' | 'used' | `${'role' | 'database'}_${'limit' | 'used'}`, number>

async function connectionsLeft (pool: pg.Pool, queueIn: keyof typeof mostOfAProcess): Promise<Found> {
  const { rows: [row] } = await pool.query<ConnectionsRow>(`
    SELECT (SELECT sum(CASE name WHEN 'max_connections' THEN 1 ELSE -1 END * setting::integer)::integer FROM pg_settings
            WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) AS most,
           count(*)::integer AS used, count(*) FILTER (WHERE usename = current_user)::integer AS role_used,
           (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit,
           count(*) FILTER (WHERE datname = current_database())::integer AS database_used,
           (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database_limit
    FROM pg_stat_activity WHERE backend_type = 'client backend'`)
  if (!row) return undefined
  const left = (limit: number, used: number) => limit < 0 ? Infinity : limit - used
  const ofRole = left(row.role_limit, row.role_used)
  const ofDatabase = left(row.database_limit, row.database_used)
  const free = Math.min(row.most - row.used, ofRole, ofDatabase)
  const most = mostOfAProcess[queueIn]
  const found = `${free} free; a process takes ${most} at most`
  if (free >= most) return found
  if (free === ofRole || free === ofDatabase) {
    return warning(found, `Raise CONNECTION LIMIT of the ${free === ofRole ? 'role' : 'database'}.`)
  }
  return warning(found, 'Raise max_connections.')
}

// Finds what blocks others now: locks that somebody waits for, and transactions that stay open.

/** No statement of the service waits longer for another: waiters give up after five and retry. */
const waitsS = 1
/** Nothing in the service locks a whole table for longer. */
const holdsS = 5
/** In the service, only replays and backups hold a snapshot for longer. */
const openS = 3_600

export async function locks (pool: pg.Pool): Promise<Found> {
  const { rows: [row] } = await pool.query<{ waiting: number, longest: number, holders: string | null }>(`
    SELECT count(DISTINCT waiter.pid)::integer AS waiting, string_agg(DISTINCT holder::text, ', ') AS holders,
           coalesce(max(extract(epoch FROM clock_timestamp() - waiter.query_start)), 0)::integer AS longest
    FROM pg_stat_activity waiter, unnest(pg_blocking_pids(waiter.pid)) holder
    WHERE waiter.datname = current_database() AND waiter.wait_event_type = 'Lock'
      AND waiter.query_start < clock_timestamp() - make_interval(secs => $1)
      AND holder NOT IN (SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock')`, [waitsS])
  if (!row?.waiting) return await heldTables(pool)
  const { waiting, longest, holders } = row
  return warning(`statements that wait: ${waiting}, the longest for ${longest} s, for process ${holders}`, mendHolder)
}

const mendHolder = 'pg_stat_activity says who that is (pid); SELECT pg_terminate_backend(pid) ends it.'

/** The service gives up waiting and retries, so at any moment mostly nobody waits, yet nothing progresses. */
async function heldTables (pool: pg.Pool): Promise<Found> {
  const { rows: [row] } = await pool.query<{ holders: string | null }>(`
    SELECT string_agg(DISTINCT pid::text, ', ') AS holders FROM pg_stat_activity JOIN pg_locks USING (pid)
    WHERE datname = current_database() AND locktype = 'relation' AND mode = 'AccessExclusiveLock' AND granted
      AND xact_start < clock_timestamp() - make_interval(secs => $1)`, [holdsS])
  if (!row?.holders) return 'nobody waits for one'
  return warning(`whole tables are locked for more than ${holdsS} s by process ${row.holders}`, mendHolder)
}

async function openTransactions (pool: pg.Pool): Promise<Found> {
  const { rows } = await pool.query<{ pid: number, state: string, seconds: number }>(`
    SELECT pid, state, extract(epoch FROM clock_timestamp() - xact_start)::integer AS seconds FROM pg_stat_activity
    WHERE datname = current_database() AND xact_start < clock_timestamp() - make_interval(secs => $1)
    ORDER BY xact_start LIMIT 5`, [openS])
  if (rows.length === 0) return 'none for longer than an hour'
  const named = rows.map(({ pid, state, seconds }) => `process ${pid}, ${state}, for ${Math.round(seconds / 60)} min`)
  return warning(named.join('; '), 'They keep vacuum from what was deleted since. End those that nobody needs, such as a dump that hangs.')
}

/** No stream reaches this revision: the store refuses an append there, and writes nothing. */
const neverReached = 10n ** 12n
const oldest = [22, 6] as const
const answerWithinMs = 2_500
const part = 'Event store'

export function checkEventStore (url: string) {
  const connection = new EventStoreConnection(url)
  const streams = new EventLog(connection, { answerWithinMs, resolveWithinMs: 0 })
  const findings = runIfReachable(part, ['reachable', async () => {
    const head = await reachableHead({ url }, () => streams.head())
    return `${placeOf(url)}, its log ends at ${head}`
  }], () => [...aboutChecks(connection), ...rightsChecks(url, streams)],
  'Check that it runs, and that EVENTSTORE_URL, its login and EVENTSTORE_CA_FILE are right: docs/eventstoredb.md.')
  return {
    streams,
    findings,
    /** When each member's last scavenge began, by member; undefined when that is unreadable. */
    lastScavenges: () => lastScavenges(connection, answerWithinMs),
    memberCount: async () => (await aboutServer(connection)).members.length,
    close: () => connection.close()
  }
}

function aboutChecks (connection: EventStoreConnection): Check[] {
  const about = aboutServer(connection)
  about.catch(() => {}) // each of the two reports it
  const told = (tell: (server: AboutServer) => Found) => async () =>
    await about.then(tell, (error: unknown) => skipped(`it does not say: ${reasonOf(error)}`))
  return [
    ['version', told(({ version }) => {
      const [major = 0, minor = 0] = version.split('.').map(Number)
      const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1])
      return isOld ? problem(version, `Run EventStoreDB ${oldest.join('.')} or later.`) : version
    })],
    ['members', told(({ members }) => {
      const found = members.map(({ address, state, isAlive }) => `${address} ${isAlive ? state : 'dead'}`).join(', ')
      if (!members.some(({ state, isAlive }) => isAlive && /^(leader|manager)$/.test(state))) {
        return problem(`${found}: none leads`, 'Bring back most of the members: only a leader takes writes.')
      }
      return members.every(({ isAlive }) => isAlive) ? found : warning(found, 'Bring back the member that is away.')
    })]
  ]
}

function rightsChecks (url: string, streams: Streams): Check[] {
  return [
    ['right to write', async () => {
      const event = { id: randomUUID(), type: 'Probe', data: {}, metadata: {} }
      const refusal = await streams.append('ringledger-write-probe', [event], neverReached).then(() => undefined, (error: unknown) => error)
      if (refusal instanceof RevisionConflict) return 'appends are taken'
      return problem(reasonOf(refusal), 'Give the login the rights of docs/eventstoredb.md, or see why the store is read-only.')
    }],
    ['login', async () => {
      const login = /\/\/([^:@/]+):[^@]*@/.exec(url)?.[1]
      if (login === 'admin' || login === 'ops') {
        return warning(`${login}, which may do more than it needs`, 'Use a plain user: docs/eventstoredb.md, "Rights".')
      }
      return login === undefined || unusedOf(url) ? 'none' : login
    }],
    ['streams are whole', async () => {
      const limited = await findLimitedStreams(streams)
      if (limited.length === 0) return 'no $maxCount, $maxAge, $tb or delete on the streams that all need'
      const found = limited.map(({ stream, limit }) => `${stream} has ${limit}`).join(', ')
      return problem(found, limited.map(({ problem }) => problem).join(' '))
    }]
  ]
}

/** Redis holds the queue, so it may evict nothing. */
export async function checkRedis (url: string): Promise<Finding[]> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: connectWithinMs, retryStrategy: () => null })
  let reason: Error | undefined
  redis.on('error', (error) => { reason = error })
  let info = ''
  try {
    return await runIfReachable('Redis', ['reachable', async () => {
      const trouble = await redis.connect().then(async () => { await redis.select(redis.options.db ?? 0) })
        .catch((error: unknown) => whyAway(url, reason ?? error))
      if (trouble) return problem(trouble.found, trouble.mend)
      info = await redis.info()
      return placeOf(url)
    }], () => checksOf(info), 'Check that it runs, and that REDIS_URL and its password are right.')
  } finally {
    redis.disconnect()
  }
}

const fieldsOf = (text: string): Record<string, string> => Object.fromEntries(text.split('\r\n')
  .filter((line) => /^\w+:/.test(line)).map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))

function checksOf (info: string): Check[] {
  const { redis_version: version, role, loading, aof_enabled: aof, ...others } = fieldsOf(info)
  const trouble = troubleIn(info)
  const found = (what: Trouble | undefined, well = '') => async () => what ? problem(what.found, what.mend) : well
  return [
    ['version', found(trouble.version, version)],
    ['maxmemory-policy', found(trouble.policy, 'noeviction')],
    ['role', async () => role === 'master'
      ? role
      : problem(`${role}: it takes no writes`, 'Set REDIS_URL to the primary.')],
    ['persistence', async () => {
      if (loading === '1') return problem('it still reads its data', 'Wait until it has.')
      if (others.rdb_last_bgsave_status === 'err' || others.aof_last_write_status === 'err') {
        return warning('its last write to disk failed, and it may refuse writes', 'See its log, and whether its disk is full.')
      }
      return aof === '1' ? 'append-only file' : 'none or snapshots; the delivery log refills the queue'
    }]
  ]
}
