// A TCP proxy that loses answers, freezes and cuts connections: the network between two processes, at its worst.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

interface Teardown { teardown (undo: () => unknown): void }

export interface TcpProxy {
  port: number
  /** From now on requests still pass, and answers are lost. */
  loseAnswers (): void
  /** From now on nothing passes in either direction, and nobody is told. */
  freeze (): void
  /** Ends every connection; new ones pass in both directions again. */
  cut (): void
  /** Ends every connection and takes no more. */
  close (): Promise<void>
  /** New connections lead to another port. */
  leadTo (port: number): void
}

export async function tcpProxy (t: Teardown, targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let passes = { requests: true, answers: true }
  let target = targetPort
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => { sockets.delete(socket); client.destroy(); upstream.destroy() })
    }
    client.on('data', (bytes) => { if (passes.requests) upstream.write(bytes) })
    upstream.on('data', (bytes) => { if (passes.answers) client.write(bytes) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(close)
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port')
  return {
    port: address.port,
    loseAnswers () { passes = { requests: true, answers: false } },
    freeze () { passes = { requests: false, answers: false } },
    cut () {
      for (const socket of sockets) socket.destroy()
      passes = { requests: true, answers: true }
    },
    close,
    leadTo (port) { target = port }
  }

  async function close (): Promise<void> {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
}
