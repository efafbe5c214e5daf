// HTTP from one address of loopback, over connections that are kept.
import { Agent, request } from 'node:http'

export interface Sent {
  token?: string | undefined
  /** Sent as JSON; a text as it is. */
  body?: object | string | undefined
  /** The same in every try of one command. */
  idempotencyKey?: string | undefined
}

export interface Answer { status: number, body: string }

/** The id of what an answer is about. */
export function idIn ({ body }: Pick<Answer, 'body'>): number {
  const { data }: { data: { id: number } } = JSON.parse(body)
  return data.id
}

/** Beyond it a request counts as failed. */
const answeredWithinMs = 30_000

export class Client {
  readonly #agent: Agent

  /** `localAddress` is any of 127.0.0.0/8, so that strangers do not share an address with users. */
  constructor (private readonly url: string, private readonly localAddress: string, mostSockets: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: mostSockets, localAddress })
  }

  /** @throws when no answer comes */
  async send (method: string, path: string, { token, body, idempotencyKey }: Sent = {}): Promise<Answer> {
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    }
    return await new Promise((resolve, reject) => {
      const from = { agent: this.#agent, localAddress: this.localAddress }
      const options = { method, headers, ...from, timeout: answeredWithinMs }
      const sending = request(new URL(path, this.url), options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
        response.on('error', reject)
      })
      sending.on('timeout', () => sending.destroy(new Error(`no answer within ${answeredWithinMs} ms`)))
      sending.on('error', reject)
      sending.end(text)
    })
  }

  close (): void {
    this.#agent.destroy()
  }
}
