// Notifies the workers that something of a user is due. A lost notification costs time only: the reconciler finds it.
import type { Pool, PoolClient } from 'pg'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'

const channel = 'ringledger_webhooks_due'

/** Notifies when the transaction commits. */
export async function notifyDue (db: Pool | PoolClient, userId: string): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [channel, userId])
}

/** Calls `onDue` with the user until it is closed. */
export function listenForDue (notifications: Notifications, onDue: (userId: string) => void): Listener {
  return notifications.listen(channel, { onNotification: onDue })
}
