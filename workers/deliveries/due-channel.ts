// Notifies the workers that something of a user is due. A lost notification costs time only: the reconciler finds it.
import type { Pool, PoolClient } from 'pg'
import { listenOn, type Listener, type ListenerOptions } from '../../src/postgres/listen.js'

const channel = 'ringledger_webhooks_due'
const heartbeatMs = 15_000

export type DueListenerOptions = Pick<ListenerOptions, 'databaseUrl' | 'onError'> & { onDue (userId: string): void }

/** Notifies when the transaction commits. */
export async function notifyDue (db: Pool | PoolClient, userId: string): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [channel, userId])
}

/** Calls `onDue` with the user until it is closed. */
export function listenForDue ({ databaseUrl, onError, onDue }: DueListenerOptions): Listener {
  return listenOn({
    databaseUrl,
    onError,
    channel,
    applicationName: 'ringledger webhooks',
    onNotification: onDue,
    onListening () {},
    heartbeatMs
  })
}
