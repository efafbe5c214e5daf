// A Postgres that goes away at the worst instant fails the query that was under way, and never ends the process.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { migrate } from '../../src/postgres/migrate.js'
import { openPool } from '../../src/postgres/pool.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { packageRoot } from '../../src/package-root.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'
import { setUpService } from '../support/back-ends/database-templates.js'
import { randomUUID } from 'node:crypto'

const postgres = await scratchPostgres(t)
const ready = Buffer.from('Z\0\0\0\x05I')
const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
const fatal = Buffer.concat([Buffer.from('E\0\0\0'), Buffer.from([fields.length + 4]), Buffer.from(fields)])

/** Postgres behind a network that delivers its nth readiness, outside of a transaction, and its end in one packet. */
async function endsWhenReady (t: Test, nth: number): Promise<string> {
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(postgres.url).port), '127.0.0.1')
    let seen = 0
    for (const socket of [client, upstream]) {
      socket.on('error', () => {}).on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.on('data', (bytes) => {
      if (bytes.includes(ready) && ++seen === nth) client.end(Buffer.concat([bytes, fatal]))
      else client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return Object.assign(new URL(postgres.url), { port: address.port }).href
}

t.test('a connection that ends as it is ready fails what it was opened for', async (t) => {
  const databaseUrl = await endsWhenReady(t, 1)
  const pool = openPool(databaseUrl, { applicationName: 'test', onError: () => {} })
  t.teardown(() => pool.end())
  await Promise.all([1, 2].map(() => t.rejects(inTransaction(pool, (tx) => tx.query('SELECT 1')))))
  await t.rejects(migrate(databaseUrl, packageRoot))
})

t.test('one that ends with the answer to a COMMIT fails nothing: it is done', async (t) => {
  const databaseUrl = await endsWhenReady(t, 2)
  const pool = openPool(databaseUrl, { applicationName: 'test', onError: () => {} })
  t.teardown(() => pool.end())
  for (const times of [1, 2]) t.match(await inTransaction(pool, (tx) => tx.query('SELECT $1::integer AS times', [times])), { rows: [{ times }] })
})

t.test('a role with CONNECT, CREATE and TEMPORARY alone migrates an empty database, and projects on it', async (t) => {
  const databaseUrl = await ownerOf(await scratchPostgres(t))
  await setUpService(databaseUrl)
  const pool = openPool(databaseUrl, { applicationName: 'test', onError: () => {} })
  t.teardown(() => pool.end())
  t.match(await pool.query('SELECT count(*)::integer AS voices FROM read_model.voices'), { rows: [{ voices: Number }] })
})

/** A URL of this database for a new role that may use it. */
async function ownerOf ({ url }: { url: string }): Promise<string> {
  const role = `owner_${randomUUID().slice(0, 8)}`
  const admin = openPool(url, { applicationName: 'test', onError: () => {} })
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'owner'`)
  const database = `"${new URL(url).pathname.slice(1)}"`
  await admin.query(`
    REVOKE ALL ON DATABASE ${database} FROM PUBLIC; GRANT CONNECT, CREATE, TEMPORARY ON DATABASE ${database} TO ${role}`)
  await admin.end()
  return Object.assign(new URL(url), { username: role, password: 'owner' }).href
}
