// Listens on one socket: gRPC for HTTP/2 connections, and a little HTTP/1.1.
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { notHere } from './protocol/errors.js'

/** Start of the HTTP/2 connection preface. */
const http2Begins = 'PRI'

/**
 * How long a connection may be silent before its protocol is known. Over HTTP/1.1, then also the limit for its one
 * request and response.
 */
const usualPatienceMs = 30_000

interface Address { host: string, port: number, patienceMs?: number }

/** Listens on one port; the first bytes of a connection decide its protocol. */
export async function listen (
  { host, port, patienceMs = usualPatienceMs }: Address, http: HttpActions, takeHttp2: (socket: Socket) => void
) {
  const overHttp = httpServer(http)
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    onProtocol(socket, patienceMs, (isHttp2) => {
      if (isHttp2) return takeHttp2(socket)
      endAfter(patienceMs, socket)
      overHttp.emit('connection', socket)
      socket.resume()
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Accepts no new connections; open ones stay open. */
    stop () { server.close() },
    destroy () { for (const socket of sockets) socket.destroy() }
  }
}

/** Detects the protocol from the first bytes, and puts them back to be read again. */
function onProtocol (socket: Socket, silentMs: number, tell: (isHttp2: boolean) => void): void {
  let first: Buffer = Buffer.alloc(0)
  const take = (chunk: Buffer): void => {
    first = Buffer.concat([first, chunk])
    const begins = first.toString('latin1', 0, http2Begins.length)
    if (begins !== http2Begins && http2Begins.startsWith(begins)) return
    socket.off('data', take).setTimeout(0).pause()
    socket.unshift(first)
    tell(begins === http2Begins)
  }
  socket.on('data', take).setTimeout(silentMs, () => socket.destroy())
}

/** Bounds slow clients too: Node's own timeouts work only when the HTTP server itself listens. */
function endAfter (ms: number, socket: Socket): void {
  const end = setTimeout(() => socket.destroy(), ms)
  socket.once('close', () => clearTimeout(end))
}

interface HttpActions {
  isReady (): boolean
  /** Starts a scavenge unless one is running. */
  startScavenge (): { id: string, isNew: boolean }
}

interface Answer { status: number, reason?: string, body?: object }

/** HTTP paths of EventStoreDB. Its client falls back to them, and shows only the status line of a refusal. */
const absent = /^\/(subscriptions|projections?|streams|users|admin)(\/|$)/

/** Does not listen: `listen` hands connections to it. */
function httpServer (actions: HttpActions): HttpServer {
  const server = createHttpServer((request, response) => {
    const { status, reason, body } = answerTo(request, actions)
    response.setHeader('Connection', 'close')
    if (body !== undefined) response.setHeader('Content-Type', 'application/json')
    response.writeHead(status, reason).end(body && JSON.stringify(body))
  })
  return server.on('connect', (_request, socket) => { socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n') })
}

function answerTo ({ method, url = '/', headers }: IncomingMessage, actions: HttpActions): Answer {
  // Not `new URL`, which throws on some request lines that Node accepts.
  const [path = '', query] = url.replace(/^https?:\/\/[^/?]*/, '').split('?', 2)
  if (path === '/health/live' && (method === 'GET' || method === 'HEAD')) {
    return { status: actions.isReady() ? liveCode(query) : 503 }
  }
  // A web page in a local browser could send this too (CSRF), but its headers give it away.
  const isOfPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
  if (path === '/admin/scavenge' && method === 'POST') return isOfPage ? { status: 403 } : scavenge(actions)
  return absent.test(path) ? { status: 501, reason: notHere('The HTTP interface').message } : { status: 404 }
}

/** Like EventStoreDB: 400 with the id of a scavenge that is already running. */
function scavenge ({ isReady, startScavenge }: HttpActions): Answer {
  if (!isReady()) return { status: 503 }
  const { id, isNew } = startScavenge()
  return { status: isNew ? 200 : 400, body: { scavengeId: id } }
}

function liveCode (query: string | undefined): number {
  const asked = Number(new URLSearchParams(query).get('liveCode') ?? 204)
  return Number.isInteger(asked) && asked >= 200 && asked <= 599 ? asked : 204
}
