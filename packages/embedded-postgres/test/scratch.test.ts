// A Postgres of a test's own: empty, and gone with all that it has, however it ends.
import { existsSync, readFileSync } from 'node:fs'
import pg from 'pg'
import t from 'tap'
import { postgresCluster } from './support/index.js'

const cluster = await postgresCluster(t, { fsync: false })

t.test('it has the databases of a new cluster, and a user that may make others', async (t) => {
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  const { rows } = await client.query('SELECT datname FROM pg_database ORDER BY datname')
  await client.query('CREATE DATABASE another')
  await client.end()
  t.strictSame(rows.map(({ datname }) => datname), ['postgres', 'template0', 'template1'])
})

t.test('none of its processes has shared memory that outlives it', async (t) => {
  const shown = (await cluster.children()).map((pid) => `/proc/${pid}/maps`).filter((file) => existsSync(file))
  for (const file of shown) t.notMatch(readFileSync(file, 'utf8'), /\/dev\/shm\/PostgreSQL\./)
})
