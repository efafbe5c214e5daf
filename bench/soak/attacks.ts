// Users and strangers who take what they can get, each again and again, at a pace of their own.
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { frontDesk } from '../../src/domain/examples.js'
import { random } from '../support/random.js'
import { endedCall } from '../support/calls.js'
import type { Client } from '../support/client.js'

/** What hostile users know: a token each, and that of an engine. */
export interface Means {
  client: Client
  url: string
  tokens: readonly string[]
  engine: string
  users: readonly number[]
  /** Takes webhooks and never answers. */
  hangingUrl: string
}

export interface Attack {
  name: string
  /** Between two of its steps, in milliseconds, on a machine of the usual top rate. */
  everyMs: number
  /** Without waiting for the step before. */
  step (n: number): Promise<unknown>
}

const variables = { notes: 'n'.repeat(20_000) }
const wide = { ...frontDesk, variables: Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`v${n}`, n])) }
const huge = JSON.stringify({ ...frontDesk, system_prompt: 'x'.repeat(700_000) })

/** Makes what they need. */
export async function openAttacks (means: Means): Promise<Attack[]> {
  const { client, tokens: [lists, slow, hanging, others], hangingUrl } = means
  const create = async (token: string | undefined, more: object = {}) => {
    const { body } = await client.send('POST', '/user/assistant', { token, body: { ...frontDesk, ...more } })
    const { data }: { data: { id: number } } = JSON.parse(body)
    return data.id
  }
  for (let n = 0; n < 60; n++) await Promise.all([create(lists, { variables }), create(slow, { variables })])
  const hooked = await create(hanging, { is_webhook_active: true, webhook_url: `${hangingUrl}/hook` })
  return [...readers(means), ...writers(means, await create(others)), ...callers(means, hooked)]
}

function readers ({ client, url, tokens: [lists, slow, ...others] }: Means): Attack[] {
  const list = '/user/assistants?per_page=100'
  return [
    { name: 'big lists', everyMs: 150, step: () => client.send('GET', list, { token: lists }) },
    { name: 'slow readers', everyMs: 1_000, step: () => readSlowly(url, slow ?? '') },
    { name: 'refused tokens', everyMs: 40, step: (n) => client.send('GET', list, { token: `${others[0]}${n}` }) }
  ]
}

/** `strange` is an assistant of somebody else. */
function writers ({ client, tokens: [, , , , bodies, duplicates, refused], users }: Means, strange: number): Attack[] {
  const lead = { phone_number: '+15550000001', campaign_id: users[5], allow_dupplicate: true }
  const commands = [
    () => client.send('PUT', `/user/assistant/${strange}`, { token: refused, body: { speech_speed: 1 } }),
    () => client.send('POST', '/user/lead', { token: refused, body: { phone_number: 'none', campaign_id: -1 } })
  ]
  const post = (token: string | undefined, body: object | string) => client.send('POST', '/user/assistant', { token, body })
  return [
    { name: 'huge bodies', everyMs: 500, step: () => post(bodies, huge) },
    { name: 'wide bodies', everyMs: 500, step: () => post(bodies, wide) },
    {
      name: 'many duplicates',
      everyMs: 150,
      step: () => client.send('POST', '/user/lead', { token: duplicates, body: lead })
    },
    { name: 'refused commands', everyMs: 150, step: async (n) => await commands[n % 2]?.() }
  ]
}

/** Their receiver never answers. */
function callers ({ client, engine }: Means, assistant: number): Attack[] {
  const chance = random(2)
  const report = () => {
    const { call_id, ...body } = endedCall(chance, assistant)
    return client.send('POST', `/engine/calls/${call_id}/completed`, { token: engine, body })
  }
  return [{ name: 'hanging receivers', everyMs: 400, step: report }]
}

/** Asks for a big list, and does not take the answer until the service ends the connection. */
async function readSlowly (url: string, token: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.0.9' })
  socket.on('error', () => {})
  const ask = `GET /user/assistants?per_page=100 HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`
  socket.write(ask.repeat(20))
  socket.pause()
  await delay(20_000)
  socket.destroy()
}
