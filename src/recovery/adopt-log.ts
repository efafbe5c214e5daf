// Makes the subscriptions follow a log that was moved, or that is older than what they have read.
import type { Pool, PoolClient } from 'pg'
import type { Streams } from '../log/event-log.js'
import { inTransaction } from '../postgres/transaction.js'
import { explainBehind, readDatabaseState, type MarkedLog, type Marker } from './database-state.js'
import { writeMarker } from './marker.js'

/** A role runs: it would go on from positions that mean something else in this log. */
export class RoleRuns extends Error {
  override readonly name = 'RoleRuns'
}

export interface Adopted {
  /** Where the log ends. */
  head: bigint
  /** What is left to do, when the database is behind the log as well. */
  problem: string | undefined
}

/**
 * Drops the read models, which the next start rebuilds. The dispatcher reads the log again from its beginning: a call
 * that has its delivery is not sent twice, a call that has none yet is sent.
 * @throws RoleRuns, EventStoreUnavailable
 */
export async function adoptLog (
  pool: Pool, streams: MarkedLog & Pick<Streams, 'append' | 'head' | 'limitOf'>
): Promise<Adopted> {
  const { last } = await readDatabaseState(pool, streams)
  const head = await streams.head()
  await inTransaction(pool, async (tx) => {
    await refuseWhileRunning(tx)
    await dropReadModels(tx)
    await rewindDispatcher(tx, head, last)
    await tx.query('DELETE FROM ledger.markers WHERE id IS DISTINCT FROM $1', [last?.id])
    await tx.query('DELETE FROM ledger.appended_behind')
    await tx.query('UPDATE ledger.markers SET revision = NULL, position = NULL') // they are those of the former log
  })
  const state = await readDatabaseState(pool, streams)
  if (state.maySend) await writeMarker({ pool, streams, always: true })
  return { head, problem: explainBehind(state) }
}

async function refuseWhileRunning (tx: PoolClient): Promise<void> {
  const { rows: [lease] } = await tx.query<{ name: string, holder: string }>(
    'SELECT name, holder FROM ledger.leases WHERE expires_at > clock_timestamp() LIMIT 1')
  if (!lease) return
  throw new RoleRuns(`${lease.holder} still holds the lease "${lease.name}": ` +
    'stop every role first; after a kill -9 it is over within 4 seconds')
}

async function dropReadModels (tx: PoolClient): Promise<void> {
  const { rows } = await tx.query<{ schema: string }>(
    "SELECT format('%I', nspname) AS schema FROM pg_namespace WHERE nspname LIKE 'read\\_%'")
  for (const { schema } of rows) await tx.query(`DROP SCHEMA ${schema} CASCADE`)
  await tx.query('DELETE FROM ledger.generations')
  await tx.query("DELETE FROM ledger.parked_events WHERE consumer LIKE 'read\\_%'")
  await tx.query('DELETE FROM ledger.circuit_breakers')
  await tx.query("SELECT pg_notify('ringledger_checkpoint', 'replaced')") // who remembers positions forgets them
}

/** What the dispatcher knows of leads stays: it follows from calls, and calls with a delivery are passed over. */
async function rewindDispatcher (tx: PoolClient, head: bigint, last: Marker | undefined): Promise<void> {
  await tx.query('TRUNCATE ledger.dispatch_assistants, ledger.dispatch_campaigns')
  await tx.query(`
    UPDATE ledger.this_database
    SET reread_until = $1, skip_until = CASE WHEN skip_until > c.position THEN $2::bigint ELSE 0 END
    FROM ledger.dispatcher_checkpoint c`, [head, last?.position ?? 0n])
  await tx.query('UPDATE ledger.dispatcher_checkpoint SET position = 0')
  await tx.query('UPDATE ledger.identity_count SET position = 0, calls = 0')
}
