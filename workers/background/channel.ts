// Notifies the workers that a request waits. A lost notification costs time only: the reconciler finds it.
import type { Pool, PoolClient } from 'pg'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'

const channel = 'ringledger_background'

/** Notifies when the transaction commits. */
export async function notifyRequests (db: Pool | PoolClient): Promise<void> {
  await db.query(`NOTIFY ${channel}`)
}

export function listenForRequests (notifications: Notifications, onRequest: () => void): Listener {
  return notifications.listen(channel, { onNotification: onRequest, onListening: onRequest })
}
