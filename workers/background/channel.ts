// Notifies the workers that a request waits. A lost notification costs time only: the reconciler finds it.
import type { Pool, PoolClient } from 'pg'
import { listenOn, type Listener, type ListenerOptions } from '../../src/postgres/listen.js'

const channel = 'ringledger_background'
const heartbeatMs = 15_000

/** Notifies when the transaction commits. */
export async function notifyRequests (db: Pool | PoolClient): Promise<void> {
  await db.query(`NOTIFY ${channel}`)
}

export function listenForRequests (
  { databaseUrl, onError, onRequest }: Pick<ListenerOptions, 'databaseUrl' | 'onError'> & { onRequest (): void }
): Listener {
  return listenOn({
    databaseUrl,
    onError,
    channel,
    applicationName: 'ringledger background',
    onNotification: onRequest,
    onListening: onRequest,
    heartbeatMs
  })
}
