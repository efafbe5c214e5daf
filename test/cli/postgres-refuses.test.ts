// Every start and command that Postgres refuses says why in words of Postgres, and how to mend it.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import { reachablePostgres } from '../../src/services/back-end-unreachable.js'
import { openPool, ping } from '../../src/postgres/pool.js'
import { secrets } from '../support/auth/secrets.js'
import { doctor } from './doctor/doctor.js'
import { dataDir, runWarm } from '../support/ringledger.js'

const rules = `
host all postgres,trusted,single,old,reader 127.0.0.1/32 trust
host all owner 127.0.0.1/32 scram-sha-256
host all absent 127.0.0.1/32 trust
`
const { url } = await postgresCluster(t, { settings: { hba_file: hbaFile(rules) } })
const admin = openPool(url, { applicationName: 'test', onError: () => {} })
t.teardown(() => admin.end())
for (const statement of [
  "CREATE ROLE owner LOGIN PASSWORD 'owner'", 'CREATE DATABASE owned OWNER owner', 'CREATE ROLE trusted LOGIN',
  'CREATE ROLE single LOGIN CONNECTION LIMIT 0',
  'CREATE ROLE old LOGIN', 'ALTER ROLE old SET search_path = older, pg_catalog',
  'CREATE ROLE reader LOGIN', 'ALTER ROLE reader SET default_transaction_read_only = on'
]) await admin.query(statement)

const inOwned = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/owned' }).href })
await inOwned.connect()
await inOwned.query(`
  CREATE SCHEMA older; GRANT USAGE ON SCHEMA older TO old;
  CREATE FUNCTION older.current_setting(text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE $1 WHEN 'server_version' THEN '13.2' WHEN 'server_version_num' THEN '130002' ELSE pg_catalog.current_setting($1) END $$`)
await inOwned.end()

/** Where the server can read it, whose account is another one under root. */
function hbaFile (text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'rl-hba-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const file = join(folder, 'pg_hba.conf')
  writeFileSync(file, text)
  return file
}

interface Parts { username?: string, password?: string, database?: string, host?: string, search?: string }

function to (parts: Parts): string {
  const { username = 'owner', password = '', database = 'owned', host = '127.0.0.1', search = '' } = parts
  return Object.assign(new URL(url), { username, password, pathname: `/${database}`, hostname: host, search }).href
}

async function tells (t: Test, args: string[], databaseUrl: string, ...wanted: RegExp[]): Promise<void> {
  const env = { ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: databaseUrl }
  const { code, stderr } = await runWarm(args, env)
  t.equal(code, 1, args.join(' '))
  for (const words of wanted) t.match(stderr, words)
  t.match(stderr, 'DATABASE_URL')
  t.notMatch(stderr, /did not answer|^ +at /m)
  t.notMatch(stderr, 'hunter2')
}

/** As clients see a transaction pooler: another process answers than the greeting names, and nothing is notified. */
async function pooled (): Promise<number> {
  const front = createServer((client) => {
    const server = connect(Number(new URL(url).port), '127.0.0.1')
    client.on('error', () => {}).on('close', () => server.destroy()).pipe(server)
    server.on('error', () => {}).on('close', () => client.destroy()).on('data', (bytes) => {
      const text = bytes.toString('latin1').replace(/K\0{3}[^]{5}/, 'K\0\0\0\x0c\0\0\0\x01')
      client.write(text.replace(/A\0{3}[^]{5}ringledger_[0-9a-f]{32}\0\0/, ''), 'latin1')
    })
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  t.teardown(() => front.close())
  const address = front.address()
  return typeof address === 'object' ? address?.port ?? 0 : 0
}
const pooler = Object.assign(new URL(to({ password: 'owner' })), { port: await pooled() }).href

const cases: Array<[rule: string, url: string, ...wanted: RegExp[]]> = [
  ['a wrong password', to({ password: 'hunter2' }),
    /password authentication failed for user "owner"/, /Set the user and the password/],
  ['a role that is unknown to a server that trusts', to({ username: 'absent' }),
    /role "absent" does not exist/, /CREATE ROLE/],
  ['a database that is missing', to({ password: 'owner', database: 'nowhere' }),
    /database "nowhere" does not exist/, /CREATE DATABASE/],
  ['a database that it may not make schemas in', to({ username: 'trusted' }),
    /trusted may not create schemas in the database owned/, /ALTER DATABASE/],
  ['a role without a connection left', to({ username: 'single' }),
    /too many connections for role "single"/, /Raise max_connections/],
  ['a host that pg_hba.conf does not name', to({ username: 'nobody' }),
    /no pg_hba.conf entry .*"nobody"/, /add\s+a line/i],
  ['TLS that Postgres does not have', to({ password: 'owner', search: '?sslmode=verify-full' }),
    /Postgres takes no TLS/, /Remove sslmode/],
  ['a transaction pooler', pooler, /A pooler stands before Postgres: what is notified does not arrive/, /LISTEN does not pass/],
  ['a server that is too old', to({ username: 'old' }), /too old: it is Postgres 13\.2 /, /Postgres 14 or later/],
  ['a role that only reads', to({ username: 'reader' }), /takes no writes: default_transaction_read_only is on/, /Switch it off/],
  ['a host that nobody knows', to({ host: 'postgres.invalid' }),
    /host of Postgres was not found: .*postgres\.invalid/, /Check how DATABASE_URL spells it/]
]
for (const [rule, databaseUrl, ...wanted] of cases) {
  t.test(`${rule} is told as such`, async (t) => {
    const refused = reachablePostgres(databaseUrl, () => ping(databaseUrl))
    await t.rejects(refused)
    const message = String(await refused.catch((error: Error) => error.message))
    for (const words of [...wanted, /DATABASE_URL/]) t.match(message, words)
    t.notMatch(message, /did not answer|hunter2/)
  })
}

t.test('the doctor tells a server that is too old', async (t) => {
  const { find } = await doctor(t, { ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: to({ username: 'old' }) })
  t.match(find('Postgres', 'version'), { level: 'error', found: /too old: it is Postgres 13/, mend: /./ })
})

t.test('a start that a pooler lets in no further locks nothing', async (t) => {
  await tells(t, ['start'], pooler, /A pooler stands/)
  t.same((await admin.query("SELECT FROM pg_locks WHERE locktype = 'advisory'")).rows, [])
})

t.test('a role and a command tell it in these words', async (t) => {
  for (const args of [['api'], ['projections', 'list']]) await tells(t, args, to({ password: 'hunter2' }), /password authentication failed/)
})

t.test('tables of another role are told as such', async (t) => {
  await admin.query('CREATE DATABASE others OWNER owner')
  const there = openPool(
    Object.assign(new URL(url), { pathname: '/others' }).href, { applicationName: 'test', onError: () => {} }
  )
  await there.query('CREATE SCHEMA ledger; CREATE TABLE ledger.migrations (id int)')
  await there.end()
  await tells(t, ['migrate'], to({ password: 'owner', database: 'others' }), /permission denied for schema ledger/, /owner of its database/)
})
