// A webhook receiver on loopback that remembers requests and answers as a test says.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { Teardown } from '../teardown.js'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  at: number
}

/** Answers one request; `count` is how many arrived so far, this one included. */
export type Answer = (response: ServerResponse, received: Received, count: number) => void

export interface Receiver {
  url: string
  received: Received[]
  /** Connections that were opened, even without a request. */
  connections: () => number
  answer: Answer
}

export const answers = (status: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (response) => { response.writeHead(status, headers).end(body) }

export async function receiver (
  t: Teardown, answer: Answer = answers(200), host = '127.0.0.1', port = 0
): Promise<Receiver> {
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const received = {
        path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks), at: Date.now()
      }
      running.received.push(received)
      running.answer(response, received, running.received.length)
    })
  })
  server.on('connection', () => { connections += 1 })
  server.listen(port, host)
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port')
  const running: Receiver = {
    url: `http://${host}:${address.port}/hook`, received: [], connections: () => connections, answer
  }
  return running
}

/** The headers as the libraries that verify a webhook want them. */
export const stringsOf = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

export const callOf = ({ body }: Received) =>
  (JSON.parse(body.toString()) as { data: { call_id: string } }).data.call_id
