// A migrated database of a test's own, with a pool.
import { type Pool } from 'pg'
import { Notifications, type NotificationsOptions } from '../../../src/postgres/notifications.js'
import { openPool } from '../../../src/postgres/pool.js'
import { scratchPostgres, type ScratchPostgres } from '../back-ends/back-ends.js'
import type { Teardown } from '../teardown.js'

export interface ScratchLedger {
  postgres: ScratchPostgres
  databaseUrl: string
  pool: Pool
  notifications: Notifications
}

/** A new database in the Postgres of the run. */
export async function scratchLedger (t: Teardown): Promise<ScratchLedger> {
  const postgres = await scratchPostgres(t, 'migrated')
  const databaseUrl = postgres.url
  const pool = openPool(databaseUrl, { applicationName: 'test', max: 20, onError: () => {} })
  t.teardown(() => pool.end())
  await pool.query('UPDATE ledger.this_database SET id = gen_random_uuid()') // a copy has the identity of its template
  return { postgres, databaseUrl, pool, notifications: notificationsOf(t, databaseUrl) }
}

/** A log that keeps its lines, for when a test fails. */
export function keepingLog () {
  const lines: { message: string, details: object }[] = []
  const keep = (details: object, message: string) => { lines.push({ message, details }) }
  return { lines, debug: keep, info: keep, warn: keep, error: keep }
}

export function notificationsOf (
  t: Teardown, databaseUrl: string, options: Partial<NotificationsOptions> = {}
): Notifications {
  const notifications = new Notifications({ databaseUrl, onError: () => {}, ...options })
  t.teardown(() => notifications.close())
  return notifications
}

/** Notifications that never arrive. */
export const deaf = (t: Teardown): Notifications => notificationsOf(t, 'postgres://nobody@127.0.0.1:1/none')
