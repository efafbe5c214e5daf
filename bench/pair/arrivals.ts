// A receiver of webhooks in this process, so that the report of a call and its webhook have one clock.
import { createServer } from 'node:http'
import { once } from 'node:events'

export interface Arrivals {
  url: string
  /** When the webhook of this call came, by `performance.now()`. @throws when it does not come in time */
  of (callId: string): Promise<number>
  close (): Promise<void>
}

const arrivesWithinMs = 30_000

export async function openArrivals (): Promise<Arrivals> {
  const awaited = new Map<string, (at: number) => void>()
  const server = createServer((request, response) => {
    const at = performance.now()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { data }: { data: { call_id: string } } = JSON.parse(Buffer.concat(chunks).toString())
      awaited.get(data.call_id)?.(at)
      awaited.delete(data.call_id)
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    of: (callId) => new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the webhook of call ${callId} did not come`)), arrivesWithinMs)
      awaited.set(callId, (at) => {
        clearTimeout(timer)
        resolve(at)
      })
    }),
    async close () {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
