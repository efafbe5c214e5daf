// Users and an engine that go on whatever happens: each command is repeated until it is acknowledged.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { frontDesk } from '../../src/domain/examples.js'
import { random } from '../support/random.js'
import { idIn, type Answer, type Client, type Sent } from '../support/client.js'
import { endedCall } from '../support/calls.js'
import { nameOf, type Book } from './book.js'

export interface Caller {
  client: Client
  tokenOf (user: number | string, role?: string): Promise<string>
}

export interface User { id: number, token: string, assistant: number }

const atOnce = 8
/** Between two commands of one of them: some 100 a second altogether, for minutes. */
const pauseMs = 60
const againMs = 250
/** An outage that goes on for longer after the load leaves commands unanswered. */
const resolveWithinMs = 90_000

/** Each has an assistant whose webhooks go to the receiver. */
export async function beginUsers (
  { client, tokenOf }: Caller, ids: readonly number[], receiverUrl: string
): Promise<User[]> {
  return await Promise.all(ids.map(async (id) => {
    const token = await tokenOf(id)
    const body = { ...frontDesk, is_webhook_active: true, webhook_url: `${receiverUrl}/${id}` }
    const answer = await client.send('POST', '/user/assistant', { token, body })
    if (answer.status !== 201) throw new Error(`an assistant was not created: ${answer.status} ${answer.body}`)
    return { id, token, assistant: idIn(answer) }
  }))
}

export class Load {
  readonly #chance = random(1)
  #turn = 0
  #giveUpAt = Infinity

  constructor (
    private readonly client: Client, private readonly book: Book, private readonly users: readonly User[],
    private readonly engine: string
  ) {}

  /** Goes on until `over`, and then until everything that was sent has its answer, or for a while. */
  async run (over: AbortSignal): Promise<void> {
    over.addEventListener('abort', () => { this.#giveUpAt = performance.now() + resolveWithinMs }, { once: true })
    await Promise.all(Array.from({ length: atOnce }, async () => {
      for (; !over.aborted; await delay(pauseMs)) await this.#next()
    }))
  }

  async #next (): Promise<void> {
    const turn = this.#turn++
    const user = this.users[turn % this.users.length]
    if (!user) return
    const percent = this.#chance.whole(1, 100)
    if (percent <= 40) return await this.#createLead(user, `+1777${String(turn).padStart(10, '0')}`)
    if (percent <= 70) return await this.#reportCall(user)
    await this.#update(user, `Hello, this is message ${turn}.`)
  }

  async #createLead ({ id: user, token }: User, phone: string): Promise<void> {
    const body = { phone_number: phone, campaign_id: user }
    const answer = await this.#untilDone('POST', '/user/lead', { token, body, idempotencyKey: randomUUID() })
    if (!answer) return
    const id = idIn(answer)
    this.book.acknowledge(nameOf.lead(id, phone), { user, path: `/user/lead/${id}`, holds: phone })
  }

  async #reportCall ({ id: user, assistant }: User): Promise<void> {
    const { call_id, ...body } = endedCall(this.#chance, assistant)
    const done = await this.#untilDone('POST', `/engine/calls/${call_id}/completed`, { token: this.engine, body })
    if (!done) return
    this.book.acknowledge(nameOf.call(call_id), { user, path: `/user/call/${call_id}`, holds: call_id })
    this.book.calls.add(call_id)
  }

  async #update ({ token, assistant }: User, text: string): Promise<void> {
    const sent = { token, body: { initial_message: text }, idempotencyKey: randomUUID() }
    if (await this.#untilDone('PUT', `/user/assistant/${assistant}`, sent)) {
      this.book.acknowledge(nameOf.update(assistant, text))
    }
  }

  /** What an outage answers is asked again with the same key; anything else is a refusal, and noted. */
  async #untilDone (method: string, path: string, sent: Sent): Promise<Answer | undefined> {
    this.book.sent += 1
    for (;;) {
      this.book.tries += 1
      const answer = await this.client.send(method, path, sent).catch(() => undefined)
      if (answer && answer.status < 300) return answer
      const said = answer ? `${answer.status} ${answer.body.slice(0, 200)}` : 'no answer'
      if (answer && answer.status < 500 && !passing.includes(answer.status)) {
        this.book.refused.push(`${method} ${path}: ${said}`)
        return undefined
      }
      if (performance.now() > this.#giveUpAt) {
        this.book.unanswered.push(`${method} ${path}: ${said}`)
        return undefined
      }
      await delay(againMs)
    }
  }
}

/** A key that is in use by an earlier try, and a limit. */
const passing = [409, 429]
