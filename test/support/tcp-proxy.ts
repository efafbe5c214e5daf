// A TCP proxy that loses answers, freezes and cuts connections: the network between two processes, at its worst.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Teardown } from './teardown.js'

export interface TcpProxy {
  port: number
  /** From now on requests still pass, and answers are lost. */
  loseAnswers (): void
  /** Requests pass, and answers until a request holds this text: with it, and from then on, they are lost. */
  loseAnswersAfter (text: string): void
  /** From now on nothing passes in either direction, and nobody is told. */
  freeze (): void
  /** Ends every connection; new ones pass in both directions again, at once. */
  cut (): void
  /** Nothing passes any more on the connections that there are, and nobody is told; new ones pass. */
  strand (): void
  /** Ends every connection and refuses new ones, until `accept`. */
  close (): Promise<void>
  accept (): Promise<void>
  /** From now on every piece takes so long, and so many bytes pass in a second, in each direction of each connection. */
  slow (latencyMs: number, bytesPerSecond: number): void
  /** New connections lead to another port. */
  leadTo (port: number): void
}

export async function tcpProxy (t: Teardown, targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const stranded = new WeakSet<Socket>()
  let passes = { requests: true, answers: true }
  let lastWords: string | undefined
  let pace: { latencyMs: number, bytesPerSecond: number } | undefined
  let target = targetPort
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true) // or small pieces wait 40 ms for an acknowledgement
      socket.on('error', () => {})
      socket.on('close', () => { sockets.delete(socket); client.destroy(); upstream.destroy() })
    }
    client.on('data', (bytes) => {
      if (lastWords !== undefined && bytes.includes(lastWords)) passes = { requests: true, answers: false }
      if (passes.requests && !stranded.has(client)) send(client, upstream, bytes)
    })
    upstream.on('data', (bytes) => { if (passes.answers && !stranded.has(upstream)) send(upstream, client, bytes) })
  })
  await listen(0)
  t.teardown(close)
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port')
  return {
    port: address.port,
    loseAnswers () { passes = { requests: true, answers: false } },
    loseAnswersAfter (text) { lastWords = text },
    freeze () { passes = { requests: false, answers: false } },
    cut () {
      for (const socket of sockets) socket.destroy()
      pass()
    },
    strand () { for (const socket of sockets) stranded.add(socket) },
    close,
    async accept () {
      pass()
      await listen(address.port)
    },
    slow (latencyMs, bytesPerSecond) { pace = { latencyMs, bytesPerSecond } },
    leadTo (port) { target = port }
  }

  /** One piece after the other: nothing more is taken from a slow connection meanwhile. */
  function send (from: Socket, to: Socket, bytes: Buffer): void {
    if (!pace) return void to.write(bytes)
    from.pause()
    setTimeout(() => { to.write(bytes); from.resume() }, pace.latencyMs + 1_000 * bytes.length / pace.bytesPerSecond)
  }

  function pass (): void {
    passes = { requests: true, answers: true }
    lastWords = undefined
    pace = undefined
  }

  async function listen (port: number): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  async function close (): Promise<void> {
    const closed = server.listening ? once(server, 'close') : undefined
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
}
