// Notifies the workers that assistants have something due. A lost notification costs only time, because the reconciler
// finds them.
import type { Pool, PoolClient } from 'pg'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'

const channel = 'ringledger_webhooks_due'

/** Notifies when the transaction commits. */
export async function notifyDue (db: Pool | PoolClient, ...assistantIds: string[]): Promise<void> {
  await db.query('SELECT pg_notify($1, id) FROM unnest($2::text[]) AS due (id)', [channel, assistantIds])
}

/** Calls `onDue` with the assistant until it is closed. */
export function listenForDue (notifications: Notifications, onDue: (assistantId: string) => void): Listener {
  return notifications.listen(channel, { onNotification: onDue })
}
