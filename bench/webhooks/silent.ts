// A receiver that takes webhooks and never answers.
import { createServer } from 'node:http'
import { once } from 'node:events'

export async function openSilent (): Promise<{ url: string, close (): void }> {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the receiver that never answers has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close () {
      server.closeAllConnections()
      server.close()
    }
  }
}
