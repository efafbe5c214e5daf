// What users do all day: leads, changes, lists, single reads, and the reports of their calls.
import { frontDesk } from '../../src/domain/examples.js'
import { random, type Random } from '../support/random.js'
import { endedCall } from '../support/calls.js'
import { Client, idIn, type Answer, type Sent } from '../support/client.js'
import type { Work } from './load.js'
import { honestUsers, type Scene } from './scene.js'

interface User { id: number, token: string, assistant: number, lead: number }

export interface Honest {
  work: Work
  /** Calls that were reported, each of which has a webhook. */
  reported (): number
  close (): void
}

type Send = (method: string, path: string, sent?: Sent) => Promise<Answer>

/** Each has an assistant whose webhooks go to the receiver, and a lead. */
export async function openHonest (scene: Scene): Promise<Honest> {
  const client = new Client(scene.url, '127.0.0.1', 100)
  const chance = random(1)
  const send: Send = async (method, path, sent) => {
    const answer = await client.send(method, path, sent)
    if (answer.status < 200 || answer.status > 299) throw new Error(`${method} ${wordsOf(path)}: ${said(answer)}`)
    return answer
  }
  const engine = await scene.tokenOf('engine', 'engine')
  const users: User[] = []
  for (const id of honestUsers) users.push(await begin(scene, send, id))
  const day = new Day(send, users, chance, engine)
  return { work: () => day.next(), reported: () => day.reported, close: () => client.close() }
}

async function begin ({ tokenOf, receiverUrl }: Scene, send: Send, id: number): Promise<User> {
  const token = await tokenOf(id)
  const webhook = { is_webhook_active: true, webhook_url: `${receiverUrl.replace('127.0.0.1', 'localhost')}/${id}` }
  const made = await send('POST', '/user/assistant', { token, body: { ...frontDesk, ...webhook } })
  const lead = await send('POST', '/user/lead', { token, body: { phone_number: `+1555${id}0000000`, campaign_id: id } })
  return { id, token, assistant: idIn(made), lead: idIn(lead) }
}

const wordsOf = (path: string) => path.replace(/\?.*/, '').replace(/[0-9a-f-]{5,}|\d+/g, '*')
const said = ({ status, body }: Answer) => `${status} ${body.slice(0, 100)}`

class Day {
  reported = 0
  #leads = 0
  #turn = 0

  constructor (
    private readonly send: Send, private readonly users: User[], private readonly chance: Random,
    private readonly engine: string
  ) {}

  /** By turns, so that no user comes near the limit of requests. */
  async next (): Promise<void> {
    const user = this.users[this.#turn++ % this.users.length]
    if (user) await this.#act(user, this.chance.whole(1, 100))
  }

  async #act ({ id, token, assistant, lead }: User, percent: number): Promise<void> {
    if (percent <= 25) return await this.#createLead(id, token)
    if (percent <= 35) return await this.#reportCall(assistant)
    if (percent <= 45) {
      const body = { llm_temperature: this.chance.whole(0, 10) / 10 }
      return void await this.send('PUT', `/user/assistant/${assistant}`, { token, body })
    }
    const paths = [
      `/user/assistant/${assistant}`, `/user/lead/${lead}`, '/user/leads', '/user/assistants', '/user/calls',
      `/user/assistant/${assistant}/history`, '/user/campaigns', '/user/webhook-deliveries'
    ] as const
    await this.send('GET', this.chance.pick(paths), { token })
  }

  async #createLead (campaign_id: number, token: string): Promise<void> {
    const phone_number = `+1666${String(this.#leads++).padStart(10, '0')}`
    await this.send('POST', '/user/lead', { token, body: { phone_number, campaign_id } })
  }

  async #reportCall (assistantId: number): Promise<void> {
    const { call_id, ...body } = endedCall(this.chance, assistantId)
    await this.send('POST', `/engine/calls/${call_id}/completed`, { token: this.engine, body })
    this.reported += 1
  }
}
