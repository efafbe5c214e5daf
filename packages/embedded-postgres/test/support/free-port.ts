// A free port for a server of a test that goes away and comes back.
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Of loopback, and outside the ranges that systems take ports from by themselves: nobody else gets it while the
 * server is away, neither a server on any port nor a connection.
 */
export async function freePort (): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(() => true, () => false)
    probe.close()
    if (isFree) return port
  }
}
