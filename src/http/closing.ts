// Ends the connections of a process that stops: whole requests get whole answers, and nobody waits for a client.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from './app-types.js'

export interface ClosingTimes {
  /** From the stop on, in milliseconds: for what has begun to arrive. */
  arriveWithinMs?: number
  /** From the stop on, in milliseconds: for answers until their clients have them. */
  answerWithinMs?: number
}

interface Connection {
  /** Not answered yet. */
  requests: IncomingMessage[]
  isNew: boolean
}

/**
 * close() waits for every connection: for a silent one without end, as Node no longer enforces `requestTimeout` then.
 * While the process is leaving, each answer ends its connection, unless a pipelined request waits behind it.
 */
export function closeInTime (
  app: App, leaving?: AbortSignal, { arriveWithinMs = 3_000, answerWithinMs = 10_000 }: ClosingTimes = {}
): void {
  const connections = new Map<Socket, Connection>()
  let isClosing = false
  const timers: NodeJS.Timeout[] = []
  const endWhere = (isOver: (connection: Connection) => boolean, end: (socket: Socket) => void) => {
    for (const [socket, connection] of connections) if (isOver(connection)) end(socket)
  }
  app.server.closeIdleConnections = () => {} // Node's cuts off an answer that waits in the socket's buffer
  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { requests: [], isNew: true })
    socket.once('close', () => connections.delete(socket))
  })
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket)
    if (!connection) return
    connection.isNew = false
    connection.requests.push(request)
    response.once('close', () => {
      connection.requests.splice(connection.requests.indexOf(request), 1)
      if (isClosing && connection.requests.length === 0) request.socket.destroySoon()
    })
  })
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!isClosing && !leaving?.aborted) return
    const isLast = connections.get(raw.socket)?.requests.at(-1) === raw
    reply.header('connection', isLast ? 'close' : 'keep-alive')
  })
  app.addHook('preClose', async () => {
    isClosing = true
    endWhere(({ requests, isNew }) => requests.length === 0 && !isNew, (socket) => socket.destroySoon())
    const isNotWhole = ({ requests }: Connection) => !requests.some(({ complete }) => complete)
    timers.push(
      setTimeout(() => endWhere(isNotWhole, (socket) => socket.destroy()), arriveWithinMs),
      setTimeout(() => endWhere(() => true, (socket) => socket.destroy()), answerWithinMs)
    )
  })
  app.addHook('onClose', async () => { for (const timer of timers) clearTimeout(timer) })
}
