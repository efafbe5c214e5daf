// An empty database of a test's own, in the Postgres of the run.
import pg from 'pg'
import { newDatabase, type Template } from './back-ends.js'
import type { Teardown } from './teardown.js'

export interface ScratchPostgres {
  /** `postgres://…` of a database on 127.0.0.1. */
  url: string
  /** The processes of its sessions, or of those of one application, and in a cluster of its own those of the server. */
  children (application?: string): Promise<number[]>
  close (): Promise<void>
}

/** Made as a copy in some milliseconds, and dropped in `t.teardown`. To kill or restart Postgres, take `postgresCluster`. */
export async function scratchPostgres (t: Teardown, template: Template = 'empty'): Promise<ScratchPostgres> {
  const { url, drop } = await newDatabase(template)
  t.teardown(drop)
  return { url, close: drop, children: (application) => sessionsOf(url, application) }
}

/** The processes that serve a database, or those of one application, and those that serve none. */
export async function sessionsOf (url: string, application?: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    const text = `
      SELECT pid FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND coalesce(datname, current_database()) = current_database()
      AND ($1::text IS NULL OR application_name = $1)`
    return (await client.query<{ pid: number }>(text, [application])).rows.map(({ pid }) => pid)
  } finally {
    await client.end().catch(() => {})
  }
}
