// Requests that are to be answered well, as a user and as the engine.
import type { Answer } from '../http/answer.js'
import { eventually } from '../eventually.js'
import type { TestService } from '../service.js'

export const sender = async (service: TestService): Promise<Sent> =>
  new Sent(service, { authorization: `Bearer ${await service.token('engine', 'engine')}` })

export class Sent {
  constructor (readonly service: TestService, private readonly engine: Record<string, string>) {}

  async dataOf (method: string, path: string, body?: object, user = '1'): Promise<Answer['body']> {
    const headers = path.startsWith('/engine') ? this.engine : {}
    const answer = await this.service.call(method, path, body, { headers, user })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }

  async isThere (path: string): Promise<void> {
    await eventually(async () => (await this.service.call('GET', path)).status === 200)
  }

  /** Visible types of a stream. */
  async typesOf (stream: string): Promise<string[]> {
    return (await this.service.parts.streams.read(stream)).map(({ type }) => type)
  }
}
