// An empty database of a test's own.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { postgresCluster } from './postgres-cluster.js'
import { type ScratchPostgres, sessionsOf } from './sessions.js'
import type { Teardown } from './teardown.js'

/** The URL of a Postgres for many tests; its user may make databases. */
const serverUrl = process.env.SCRATCH_POSTGRES_URL

/** In the Postgres of SCRATCH_POSTGRES_URL, in some milliseconds, or else in a cluster of its own, without fsync. */
export async function scratchPostgres (t: Teardown): Promise<ScratchPostgres> {
  if (!serverUrl) return await postgresCluster(t, { fsync: false })
  const name = `scratch_${randomUUID().replaceAll('-', '')}`
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`)
  let dropped: Promise<void> | undefined
  const close = () => dropped ??= onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  t.teardown(close)
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
  return { url, close, children: (application) => sessionsOf(url, application) }
}

async function onServer (url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // the statement rejects
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
