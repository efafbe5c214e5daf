// Takes the webhooks of the drill, and remembers for each call which ones came.
import { once } from 'node:events'
import { createServer } from 'node:http'

export interface DrillReceiver {
  url: string
  /** Ids of webhooks by call: more than one is a doubled webhook. */
  readonly arrived: ReadonlyMap<string, ReadonlySet<string>>
  /** The same webhook again, which a receiver drops by its id. */
  repeated (): number
  close (): Promise<void>
}

export async function openDrillReceiver (): Promise<DrillReceiver> {
  const arrived = new Map<string, Set<string>>()
  let repeated = 0
  const note = (call: string, webhook: string) => {
    const ids = arrived.get(call) ?? new Set()
    if (ids.has(webhook)) repeated += 1
    arrived.set(call, ids.add(webhook))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { data }: { data: { call_id: string } } = JSON.parse(Buffer.concat(chunks).toString())
      note(data.call_id, String(request.headers['webhook-id']))
      response.writeHead(204).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://localhost:${port}`,
    arrived,
    repeated: () => repeated,
    async close () {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
