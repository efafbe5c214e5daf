// A TCP server on loopback that does as the test tells it with each connection.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Teardown } from '../teardown.js'

export async function rawServer (
  t: Teardown, serve: (socket: Socket, count: number) => void
): Promise<{ url: string, connections: () => number }> {
  let count = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    serve(socket, ++count)
  })
    .listen(0, '127.0.0.1')
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}/`, connections: () => count }
}
