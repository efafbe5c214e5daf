// Connections to receivers. They are kept for the next webhooks, since opening one costs more than sending, most of all
// over TLS. A stale connection costs a request but no attempt. If one breaks in an answer, the beginning still counts.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { Agent, type buildConnector, type Dispatcher } from 'undici'
import { maxCachedSessions } from './guard.js'

type OpenAgent = (connect: buildConnector.connector, keepAliveTimeout: number) => Dispatcher

/** Unless the receiver says how long it keeps them. */
export const keptMs = 60_000
/** From so many on, `hurriedMs` applies: receivers that are called once must not use up the process's sockets. */
const mostKept = 500
export const hurriedMs = 4_000
/** In bytes. Generous, because the status line of an answer counts, whatever else its headers have. */
const maxHeaderSize = 64 * 1024
const keepAtMost = 16 * 1024

export type Connections = ReturnType<typeof openConnections>

interface Exchange { readBefore: number, answer: Buffer }

const sendHeaders = 'undici:client:sendHeaders'

const usualAgent: OpenAgent = (connect, keepAliveTimeout) =>
  new Agent({ connect, allowH2: false, maxHeaderSize, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout })

/**
 * `connect` opens connections, which are kept for a minute, or for some seconds while `most` or more are open. It
 * watches the sockets, because undici reports some errors without a connection, and all of them without a request.
 */
export function openConnections (
  connect: buildConnector.connector, openAgent: OpenAgent = usualAgent, most = mostKept
) {
  let open = 0
  // undici resumes the TLS session of a host but holds it weakly: this cache keeps it from garbage collection.
  const sessions = new LRUCache<string, Buffer>({ max: maxCachedSessions })
  const exchanges = new WeakMap<Socket, Exchange | undefined>()
  const failed = new WeakMap<object, Exchange & { isStale: boolean }>()
  const failureOf = (error: unknown) => error instanceof Error ? failed.get(error) : undefined
  const watching: buildConnector.connector = (options, callback) => connect(options, (...outcome) => {
    const [, socket] = outcome
    if (socket) {
      open += 1
      exchanges.set(socket, undefined)
      socket.once('close', () => { open -= 1 })
      socket.on('error', (error) => {
        const last = exchanges.get(socket)
        if (last) failed.set(error, { ...last, isStale: last.readBefore > 0 && socket.bytesRead === last.readBefore })
      })
      if (socket instanceof TLSSocket) socket.on('session', (session) => sessions.set(options.hostname, session))
    }
    callback(...outcome)
  })
  const patient = openAgent(watching, keptMs)
  const hurried = openAgent(watching, hurriedMs)
  subscribe(sendHeaders, note)
  return {
    /** The dispatcher of the next request. */
    next: () => open < most ? patient : hurried,
    /** Whether `error` ended a request without any answer, on a connection that had answered other requests. */
    isStale: (error: unknown) => failureOf(error)?.isStale ?? false,
    /** The beginning of the answer that `error` ended. */
    begunOf: (error: unknown) => failureOf(error)?.answer,
    async close () {
      unsubscribe(sendHeaders, note)
      await Promise.all([patient.destroy(), hurried.destroy()])
    }
  }

  function note (message: unknown): void {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return
    const { socket } = message
    if (!(socket instanceof Socket) || !exchanges.has(socket)) return // of another client of this process
    if (!exchanges.get(socket)) socket.on('data', (chunk: Buffer) => { keep(exchanges.get(socket), chunk) })
    exchanges.set(socket, { readBefore: socket.bytesRead, answer: Buffer.alloc(0) })
  }
}

function keep (exchange: Exchange | undefined, chunk: Buffer): void {
  if (!exchange || exchange.answer.length >= keepAtMost) return
  exchange.answer = Buffer.concat([exchange.answer, chunk.subarray(0, keepAtMost)])
}
