// The socket: gRPC for connections that begin with HTTP/2, and a little HTTP/1.1.
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { notHere } from './protocol/errors.js'

/** How the preface of every HTTP/2 connection begins. */
const http2Begins = 'PRI'

/**
 * How long a connection may keep silent before it has said which protocol it speaks, and then, over HTTP/1.1, how long
 * its one request and the answer may take.
 */
const usualPatienceMs = 30_000

interface Address { host: string, port: number, patienceMs?: number }

/** Listens on one port for both protocols: the first bytes of a connection show which it is. */
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
    /** Accepts no more; what is open stays open. */
    stop () { server.close() },
    /** Closes what is still open. */
    destroy () { for (const socket of sockets) socket.destroy() }
  }
}

/** Says which protocol a connection speaks, once its first bytes tell. Its bytes are still to be read. */
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

/** However slowly it sends or reads: Node watches over connections only where the HTTP server listens itself. */
function endAfter (ms: number, socket: Socket): void {
  const end = setTimeout(() => socket.destroy(), ms)
  socket.once('close', () => clearTimeout(end))
}

interface HttpActions {
  isReady (): boolean
  /** Begins a scavenge, unless one is under way. */
  startScavenge (): { id: string, isNew: boolean }
}

interface Answer { status: number, reason?: string, body?: object }

/** What EventStoreDB answers over HTTP. Its client falls back on it, and shows only the status line of a refusal. */
const absent = /^\/(subscriptions|projections?|streams|users|admin)(\/|$)/

/** It listens nowhere: connections are handed to it. */
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
  // Not `new URL`, which throws for some of the request lines that node lets through.
  const [path = '', query] = url.replace(/^https?:\/\/[^/?]*/, '').split('?', 2)
  if (path === '/health/live' && (method === 'GET' || method === 'HEAD')) {
    return { status: actions.isReady() ? liveCode(query) : 503 }
  }
  // A page in a browser on this machine could send it as well, and would say where it comes from.
  const isOfPage = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined
  if (path === '/admin/scavenge' && method === 'POST') return isOfPage ? { status: 403 } : scavenge(actions)
  return absent.test(path) ? { status: 501, reason: notHere('The HTTP interface').message } : { status: 404 }
}

/** As EventStoreDB: 400 while another one is under way, whose id it tells. */
function scavenge ({ isReady, startScavenge }: HttpActions): Answer {
  if (!isReady()) return { status: 503 }
  const { id, isNew } = startScavenge()
  return { status: isNew ? 200 : 400, body: { scavengeId: id } }
}

function liveCode (query: string | undefined): number {
  const asked = Number(new URLSearchParams(query).get('liveCode') ?? 204)
  return Number.isInteger(asked) && asked >= 200 && asked <= 599 ? asked : 204
}
