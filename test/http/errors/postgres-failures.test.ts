// However Postgres or the way to it fails a statement, nothing was changed: 503. A value that it does not take is our
// fault.
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { answerError } from '../../../src/errors.js'
import type pg from 'pg'
import { type PoolOptions, openPool } from '../../../src/postgres/pool.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { eventually } from '../../support/eventually.js'

// However Postgres or the way to it fails a statement: each way for real, on a database of its own.
type Fail = (t: Test, site: Site) => Promise<unknown>
type Site = Awaited<ReturnType<typeof openSite>>

/** A database of its own, and a proxy before it. */
async function openSite (t: Test) {
  const { url } = await scratchPostgres(t, 'empty')
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  const through = (username: string) => Object.assign(new URL(url), { port: String(proxy.port), username }).href
  const pool = (options: Partial<PoolOptions> = {}, user = new URL(url).username) => {
    const opened = openPool(through(user), { applicationName: 'failing', max: 2, onError: () => {}, ...options })
    t.teardown(() => opened.ended || opened.end())
    return opened
  }
  const admin = openPool(url, { applicationName: 'admin', max: 3, onError: () => {} })
  t.teardown(() => admin.end())
  await admin.query('CREATE TABLE rows (id integer PRIMARY KEY); INSERT INTO rows VALUES (1), (2)')
  const name = new URL(url).pathname.slice(1)
  return { url, name, proxy, pool, admin, sleeping: () => asleep(admin) }
}

/** Resolves when a session of the pool is in its long statement. */
const asleep = (admin: pg.Pool) => eventually(async () => (await admin.query<{ pid: number }>(
  "SELECT pid FROM pg_stat_activity WHERE application_name = 'failing' AND query LIKE 'SELECT pg_sleep%'")).rows[0]?.pid ?? false)

const sleep = 'SELECT pg_sleep(60)'
const lock = 'UPDATE rows SET id = id WHERE id = 1'

/** Ends with what becomes of a statement once `end` was done to its session. */
async function interrupted ({ pool, sleeping }: Site, end: (pid: number) => Promise<unknown>): Promise<unknown> {
  const query = pool().query(sleep)
  query.catch(() => {})
  await end(await sleeping())
  return await query
}

/** What the second statement of a transaction says, after the first one. */
async function inTransaction (pool: pg.Pool, statements: string[], between: () => Promise<unknown> = async () => {}) {
  const client = await pool.connect()
  client.on('error', () => {})
  try {
    await client.query(statements[0] ?? '')
    await between()
    return await client.query(statements[1] ?? '')
  } finally {
    client.release(true)
  }
}

/** By what goes wrong. Each throws what its statement does. */
const waysToFail: Record<string, Fail> = {
  'the session is terminated': async (_, site) =>
    await interrupted(site, async (pid) => await site.admin.query('SELECT pg_terminate_backend($1)', [pid])),
  'the statement is cancelled': async (_, site) =>
    await interrupted(site, async (pid) => await site.admin.query('SELECT pg_cancel_backend($1)', [pid])),
  'the connection is cut': async (_, site) => await interrupted(site, async () => site.proxy.cut()),
  'the statement takes too long': async (_, { pool }) => await pool({ answerWithinMs: 100 }).query(sleep),
  'nothing comes': async (_, { pool, proxy }) => {
    const silent = pool({ answerWithinMs: 200 })
    await silent.query('SELECT 1')
    proxy.freeze()
    return await silent.query('SELECT 1')
  },
  'nothing listens': async (_, { pool, proxy }) => {
    await proxy.close()
    return await pool().query('SELECT 1')
  },
  'each connection is reset': async (_, { pool, proxy }) => {
    proxy.reset()
    return await pool().query('SELECT 1')
  },
  'all connections of the pool are taken': async (t, { pool }) => {
    const full = pool({ max: 1 })
    const client = await full.connect()
    t.teardown(() => client.release())
    return await full.query('SELECT 1')
  },
  'the process ends': async (_, { pool }) => {
    const ended = pool()
    await ended.end()
    return await ended.query('SELECT 1')
  },
  'a transaction stands still for too long': async (_, { pool, admin }) =>
    await inTransaction(pool({ stalledAfterMs: 50 }), ['BEGIN', 'SELECT 1'], async () => await eventually(async () =>
      (await admin.query("SELECT FROM pg_stat_activity WHERE application_name = 'failing'")).rowCount === 0)),
  'a lock is not given in time': async (t, { pool, admin }) => {
    const holder = await admin.connect()
    t.teardown(async () => {
      await holder.query('ROLLBACK')
      holder.release()
    })
    await holder.query('BEGIN')
    await holder.query(lock)
    return await inTransaction(pool(), ["SET lock_timeout = '50ms'", lock])
  },
  'two transactions wait for each other': async (_, { pool }) => await deadlock(pool()),
  'another transaction was first': async (_, { pool, admin }) => await inTransaction(
    pool(), ['BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM rows', lock], async () => await admin.query(lock)),
  'the database takes no writes': async (_, { pool, admin, name }) => {
    await admin.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`)
    return await pool().query(lock)
  },
  'the role has all connections that it may have': async (t, { pool, admin, name }) => {
    await withRole(t, admin, 'LOGIN CONNECTION LIMIT 0')
    return await pool({}, `odd_${name}`).query('SELECT 1')
  },
  'the role may not log in': async (t, { pool, admin, name }) => {
    await withRole(t, admin, 'NOLOGIN')
    return await pool({}, `odd_${name}`).query('SELECT 1')
  },
  'the role may not read the table': async (t, { pool, admin, name }) => {
    await withRole(t, admin, 'LOGIN')
    return await pool({}, `odd_${name}`).query('SELECT FROM rows')
  },
  'there is no such database': async (t, { url }) => {
    const gone = openPool(`${url}_gone`, { applicationName: 'failing', onError: () => {} })
    t.teardown(() => gone.end())
    return await gone.query('SELECT 1')
  }
}

/** A role of its own, which is gone with the test. */
async function withRole (t: Test, admin: pg.Pool, rights: string): Promise<void> {
  const { rows: [row] } = await admin.query<{ name: string }>("SELECT 'odd_' || current_database() AS name")
  await admin.query(`CREATE ROLE "${row?.name}" ${rights}`)
  t.teardown(() => admin.query(`DROP ROLE "${row?.name}"`))
}

async function deadlock (pool: pg.Pool): Promise<void> {
  const second = 'UPDATE rows SET id = id WHERE id = 2'
  const clients = await Promise.all([pool.connect(), pool.connect()])
  try {
    await Promise.all(clients.map((client, nth) => client.query(`BEGIN; ${nth === 0 ? lock : second}`)))
    await Promise.all(clients.map((client, nth) => client.query(nth === 0 ? second : lock)))
  } finally {
    for (const client of clients) client.release(true)
  }
}

for (const [title, fail] of Object.entries(waysToFail)) {
  t.test(`${title}: 503`, async (t) => {
    const error = await errorOf(fail(t, await openSite(t)))
    t.equal(await statusFor(t, error), 503, `${'code' in error ? String(error.code) : ''} ${error.message}`)
  })
}

t.test('a value that Postgres does not take: 500', async (t) => {
  const { pool } = await openSite(t)
  for (const statement of ['INSERT INTO rows VALUES (1)', "SELECT 'x'::integer", 'SELECT 1 FROM']) {
    t.equal(await statusFor(t, await errorOf(pool().query(statement))), 500, statement)
  }
})

async function errorOf (work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(() => undefined, (thrown: unknown) => thrown)
  return error instanceof Error ? error : new Error('it did not fail')
}

async function statusFor (t: Test, error: Error): Promise<number> {
  const app = fastify()
  t.teardown(() => app.close())
  app.setErrorHandler(answerError)
  app.post('/', () => { throw error })
  return (await app.inject({ method: 'POST', url: '/' })).statusCode
}
