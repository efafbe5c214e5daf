// Tells the workers at once that something of a user is due. Only a hint: the reconciler finds what nobody heard of.
import type { Pool, PoolClient } from 'pg'
import { listenOn, type Listener, type ListenerOptions } from '../../src/postgres/listen.js'

const channel = 'ringledger_webhooks_due'
const heartbeatMs = 15_000

/** Heard when the transaction commits. */
export async function announceDue (db: Pool | PoolClient, userId: string): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [channel, userId])
}

/** Calls `onDue` with the user until it is closed. */
export function listenForDue ({ databaseUrl, onError, onDue }: Pick<ListenerOptions, 'databaseUrl' | 'onError'> & { onDue (userId: string): void }): Listener {
  return listenOn({ databaseUrl, onError, channel, applicationName: 'ringledger webhooks', onNotification: onDue, onListening () {}, heartbeatMs })
}
