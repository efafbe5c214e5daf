// A free port.
import { createServer } from 'node:net'

/** Of loopback, and none of those. Another process may take it before it is used. */
export async function freePort (others: readonly number[] = []): Promise<number> {
  for (;;) {
    const port = await listenOnce(0)
    if (!others.includes(port)) return port
  }
}

/** Listens for a moment. @returns the port. @throws when another process has it */
export function listenOnce (port: number, host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port))
    })
  })
}
