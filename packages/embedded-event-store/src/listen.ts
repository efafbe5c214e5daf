// The socket: gRPC for connections that begin with HTTP/2, and a health check over HTTP/1.1.
import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { notHere } from './protocol/errors.js'

export interface Listener {
  port: number
  /** Accepts no more; what is open stays open. */
  stop (): void
  /** Closes what is still open. */
  destroy (): void
}

/** What EventStoreDB answers over HTTP. Its client falls back on it, and shows only the status line of a refusal. */
const absent = /^\/(subscriptions|projections?|streams|users|admin)(\/|$)/

/**
 * Listens on one port for both protocols: the first bytes of a connection show which it is. A health check calls
 * `isReady`.
 */
export async function listen (
  host: string, port: number, isReady: () => boolean, takeHttp2: (socket: Socket) => void
): Promise<Listener> {
  const health = healthServer(isReady)
  const sockets = new Set<Socket>()
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.once('data', (first: Buffer) => {
      socket.pause()
      socket.unshift(first)
      if (first.toString('latin1', 0, 3) === 'PRI') return takeHttp2(socket)
      health.emit('connection', socket)
      socket.resume()
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop () { server.close() },
    destroy () { for (const socket of sockets) socket.destroy() }
  }
}

function healthServer (isReady: () => boolean): HttpServer {
  return createHttpServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const isAsked = url.pathname === '/health/live' && (request.method === 'GET' || request.method === 'HEAD')
    if (absent.test(url.pathname)) response.writeHead(501, notHere('The HTTP interface').message).end()
    else response.writeHead(!isAsked ? 404 : isReady() ? liveCode(url) : 503).end()
  })
}

function liveCode (url: URL): number {
  const asked = Number(url.searchParams.get('liveCode') ?? 204)
  return Number.isInteger(asked) && asked >= 200 && asked <= 599 ? asked : 204
}
