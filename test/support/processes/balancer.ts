// A TCP balancer on this machine: it leads new connections to processes that say they are ready, one after the other.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { request } from 'undici'
import type { Teardown } from '../teardown.js'

const probeEveryMs = 100
const probeWithinMs = 1_000

export interface Balancer {
  url: string
  /** Ports of those that get new connections. */
  ready (): number[]
  /** From now on this process is probed, too. */
  add (port: number): void
  remove (port: number): void
}

/** Probes `/health/ready` ten times a second. Closed in `t.teardown`. */
export async function balancer (t: Teardown): Promise<Balancer> {
  const backEnds = new Map<number, boolean>()
  const sockets = new Set<Socket>()
  let turn = 0
  const ready = () => [...backEnds].flatMap(([port, isReady]) => isReady ? [port] : [])
  const server = createServer((client) => {
    const ports = ready()
    const upstream = connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1')
    for (const [socket, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(socket.setNoDelay(true))
      socket.on('error', () => { other.destroy() }).on('close', () => {
        sockets.delete(socket)
        other.end()
      })
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const probe = setInterval(() => {
    for (const port of backEnds.keys()) {
      void isReady(port).then((is) => { if (backEnds.has(port)) backEnds.set(port, is) })
    }
  }, probeEveryMs)
  t.teardown(async () => {
    clearInterval(probe)
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready,
    add: (port) => { backEnds.set(port, false) },
    remove: (port) => { backEnds.delete(port) }
  }
}

async function isReady (port: number): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/health/ready`, {
      headersTimeout: probeWithinMs, reset: true
    })
    await body.dump()
    return statusCode === 200
  } catch {
    return false
  }
}
