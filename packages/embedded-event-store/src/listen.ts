// The socket: gRPC for connections that begin with HTTP/2, and a little HTTP/1.1.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { type HttpActions, httpServer } from './http.js'

export interface Listener {
  port: number
  /** Accepts no more; what is open stays open. */
  stop (): void
  /** Closes what is still open. */
  destroy (): void
}

/** How the preface of every HTTP/2 connection begins. */
const http2Begins = 'PRI'

/**
 * How long a connection may keep silent before it has said which protocol it speaks, and then, over HTTP/1.1, how long
 * its one request and the answer may take.
 */
const usualPatienceMs = 30_000

export interface Address { host: string, port: number, patienceMs?: number }

/**
 * Listens on one port for both protocols: the first bytes of a connection show which it is.
 */
export async function listen (
  { host, port, patienceMs = usualPatienceMs }: Address, http: HttpActions, takeHttp2: (socket: Socket) => void
): Promise<Listener> {
  const overHttp = httpServer(http)
  const sockets = new Set<Socket>()
  const server: Server = createServer({ noDelay: true }, (socket) => {
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
    stop () { server.close() },
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
