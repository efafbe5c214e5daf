// A webhook receiver on Node's own HTTP server.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { Webhook } from 'standardwebhooks'

/**
 * `keep` gets every webhook that is genuine. It stores the event under its id, does nothing for an id that it has, and
 * resolves once that is safe; the slow work comes later.
 */
export function receiver (secret: string, keep: (id: string, event: unknown) => Promise<void>): Server {
  const webhook = new Webhook(secret)

  async function take (request: IncomingMessage): Promise<number> {
    const body = await bytesOf(request)
    let event: unknown
    try {
      event = webhook.verify(body, stringsOf(request.headers))
    } catch {
      return 401
    }
    await keep(String(request.headers['webhook-id']), event)
    return 204
  }

  return createServer((request, response) => {
    take(request).then((status) => response.writeHead(status).end(), () => response.writeHead(500).end())
  })
}

async function bytesOf (request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const stringsOf = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
