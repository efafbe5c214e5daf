// Stale connections: the receiver closed them before they were used again. That loses a request, but no attempt.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import type { buildConnector } from 'undici'

export interface StaleConnections {
  /** Watches what `connect` opens. */
  watching (connect: buildConnector.connector): buildConnector.connector
  /** Whether `error` ended a request without any answer, on a connection that had answered other requests. */
  isStale (error: unknown): boolean
  close (): void
}

const sendHeaders = 'undici:client:sendHeaders'

/** Watches sockets: undici reports some of these errors without a connection, and all of them without a request. */
export function watchStale (): StaleConnections {
  const readBefore = new WeakMap<Socket, number>()
  const stale = new WeakSet<Error>()
  subscribe(sendHeaders, noteRead)
  return {
    watching: (connect) => (options, callback) => connect(options, (...outcome) => {
      const [, socket] = outcome
      socket?.on('error', (error) => {
        const before = readBefore.get(socket) ?? 0
        if (before > 0 && socket.bytesRead === before) stale.add(error)
      })
      callback(...outcome)
    }),
    isStale: (error) => error instanceof Error && stale.has(error),
    close: () => { unsubscribe(sendHeaders, noteRead) }
  }

  function noteRead (message: unknown): void {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return
    if (message.socket instanceof Socket) readBefore.set(message.socket, message.socket.bytesRead)
  }
}
