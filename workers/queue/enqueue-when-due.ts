// Queues what becomes due as soon as anybody tells of it.
import type { Listener } from '../../src/postgres/listen.js'
import { listenForDue } from '../deliveries/due-channel.js'
import type { Enqueuer } from './enqueue.js'

export interface WhenDueOptions {
  databaseUrl: string
  log: { warn (details: object, message: string): void }
}

/** Until the listener is closed. */
export function enqueueWhenDue ({ databaseUrl, log }: WhenDueOptions, enqueuer: Enqueuer): Listener {
  return listenForDue({
    databaseUrl,
    onDue: (user) => enqueuer.enqueueSoon([user]),
    onError: (err) => log.warn({ err }, 'cannot hear what is due, the reconciler finds it')
  })
}
