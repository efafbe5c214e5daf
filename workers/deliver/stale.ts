// Connections that the receiver had closed by the time they were used again: that loses a request, and no attempt.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import type { buildConnector } from 'undici'

export interface StaleConnections {
  /** Watches what `connect` opens. */
  watching (connect: buildConnector.connector): buildConnector.connector
  /** Whether `error` ended a request on a connection that had answered others, and nothing of its own answer had come. */
  isStale (error: unknown): boolean
  close (): void
}

const sendHeaders = 'undici:client:sendHeaders'

/** Of some of these errors undici does not tell whose they are, and of none which request it was: so sockets are watched. */
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
    if (typeof message === 'object' && message !== null && 'socket' in message && message.socket instanceof Socket) readBefore.set(message.socket, message.socket.bytesRead)
  }
}
