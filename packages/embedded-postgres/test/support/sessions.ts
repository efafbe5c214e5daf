// A database of a test, and the processes that serve it.
import pg from 'pg'

export interface ScratchPostgres {
  /** `postgres://…` of a database on 127.0.0.1. */
  url: string
  /** The processes of its sessions, or of those of one application, and in a cluster of its own those of the server. */
  children (application?: string): Promise<number[]>
  close (): Promise<void>
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
