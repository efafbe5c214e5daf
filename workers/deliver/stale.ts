// Connections that fail: those that were stale lose a request but no attempt, and some had begun to answer.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import type { buildConnector } from 'undici'

export interface FailedConnections {
  /** Watches what `connect` opens. */
  watching (connect: buildConnector.connector): buildConnector.connector
  /** Whether `error` ended a request without any answer, on a connection that had answered other requests. */
  isStale (error: unknown): boolean
  /** The beginning of the answer that `error` ended. */
  begunOf (error: unknown): Buffer | undefined
  close (): void
}

interface Exchange { readBefore: number, answer: Buffer }

const sendHeaders = 'undici:client:sendHeaders'
const keepAtMost = 16 * 1024

/** Watches sockets: undici reports some of these errors without a connection, and all of them without a request. */
export function watchFailed (): FailedConnections {
  const exchanges = new WeakMap<Socket, Exchange>()
  const failed = new WeakMap<object, Exchange & { isStale: boolean }>()
  subscribe(sendHeaders, note)
  const failureOf = (error: unknown) => error instanceof Error ? failed.get(error) : undefined
  return {
    watching: (connect) => (options, callback) => connect(options, (...outcome) => {
      const [, socket] = outcome
      socket?.on('error', (error) => {
        const last = exchanges.get(socket)
        if (last) failed.set(error, { ...last, isStale: last.readBefore > 0 && socket.bytesRead === last.readBefore })
      })
      callback(...outcome)
    }),
    isStale: (error) => failureOf(error)?.isStale ?? false,
    begunOf: (error) => failureOf(error)?.answer,
    close: () => { unsubscribe(sendHeaders, note) }
  }

  function note (message: unknown): void {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return
    const { socket } = message
    if (!(socket instanceof Socket)) return
    if (!exchanges.has(socket)) socket.on('data', (chunk: Buffer) => { keep(exchanges.get(socket), chunk) })
    exchanges.set(socket, { readBefore: socket.bytesRead, answer: Buffer.alloc(0) })
  }
}

function keep (exchange: Exchange | undefined, chunk: Buffer): void {
  if (!exchange || exchange.answer.length >= keepAtMost) return
  exchange.answer = Buffer.concat([exchange.answer, chunk.subarray(0, keepAtMost)])
}
