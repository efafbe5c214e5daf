// Connections to receivers, kept for their next webhooks: to open one costs more than to send, most of all over TLS.
import { TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { Agent, type buildConnector, type Dispatcher } from 'undici'
import { maxCachedSessions } from './guard.js'

export type OpenAgent = (connect: buildConnector.connector, keepAliveTimeout: number) => Dispatcher

/** Where the receiver does not say itself for how long it keeps them. */
export const keptMs = 60_000
/** While this many are open: receivers that are called once each must not use up what a process may open. */
const mostKept = 500
export const hurriedMs = 4_000

export interface Agents {
  /** Sends the next request. */
  next (): Dispatcher
  destroy (): Promise<void>
}

/** Of an answer, in bytes: its status line counts, whatever else is in them. */
const maxHeaderSize = 64 * 1024

const usualAgent: OpenAgent = (connect, keepAliveTimeout) =>
  new Agent({ connect, allowH2: false, maxHeaderSize, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout })

/** Connections are opened by `connect`, and kept for a minute; for some seconds while `most` or more are open. */
export function openAgents (
  connect: buildConnector.connector, openAgent: OpenAgent = usualAgent, most = mostKept
): Agents {
  let open = 0
  // undici resumes the TLS session of a host as long as nobody collects it: it holds none itself.
  const sessions = new LRUCache<string, Buffer>({ max: maxCachedSessions })
  const counting: buildConnector.connector = (options, callback) => connect(options, (...outcome) => {
    const [, socket] = outcome
    if (socket) {
      open += 1
      socket.once('close', () => { open -= 1 })
      if (socket instanceof TLSSocket) socket.on('session', (session) => sessions.set(options.hostname, session))
    }
    callback(...outcome)
  })
  const patient = openAgent(counting, keptMs)
  const hurried = openAgent(counting, hurriedMs)
  return {
    next: () => open < most ? patient : hurried,
    destroy: async () => { await Promise.all([patient.destroy(), hurried.destroy()]) }
  }
}
