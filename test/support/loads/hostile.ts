// Hostile clients next to a good user: a stranger, a user with uploads, and readers that do not read.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Pool } from 'pg'
import type { Teardown } from '../teardown.js'
import type { Answered, GoodUser } from './good-user-main.js'

interface HostileScene {
  url: string
  pool: Pool
  /** A token of that user. */
  token (user: string): Promise<string>
  /** Rows of each of the eight uploads. */
  rows: number
  /** Requests of the good user in each round, alone and beside the others. */
  times: number
  rounds: number
}

export interface Outcome { statuses: number[], p99: number }

/** What the good user got alone and next to the others; and the statuses of one export of theirs and of the uploads. */
export interface Round { alone: Outcome, beside: Outcome, exported: number, uploads: number[] }

const readers = ['hostile-1', 'hostile-2', 'hostile-3']

export async function hostileRun (t: Teardown, scene: HostileScene): Promise<Round[]> {
  const { url, pool, token } = scene
  await pool.query(`
    INSERT INTO read_model.leads (id, primary_id, place, user_id, campaign_id, phone_number, variables, status, stream,
      created_at, updated_at)
    SELECT 2000000 + 10000 * place + n, NULL, 0, user_id, 2, '+1666' || n,
      json_build_object('customer_name', repeat('x', 4000), 'email', ''), 'created', 'lead-' || user_id || n, now(), now()
    FROM unnest($1::text[]) WITH ORDINALITY AS reader (user_id, place), generate_series(1, 2500) n`, [readers])
  const good = await token('good')
  const campaign = await newCampaign(url, good)
  const rounds: Round[] = []
  for (let n = 0; n < scene.rounds; n++) rounds.push(await hostileRound(t, scene, good, campaign, n))
  return rounds
}

async function hostileRound (
  t: Teardown, { url, token, times, rows }: HostileScene, good: string, campaign: number, n: number
): Promise<Round> {
  const user = { url, token: good, campaign, times, from: 2 * n * times }
  const alone = await asGoodUser(user)
  const { hostname, port } = new URL(url)
  const open = (head: string[], isReading = true) => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    t.teardown(() => socket.destroy())
    if (isReading) socket.resume()
    else socket.pause()
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    return socket
  }
  const form = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
  const sockets = Array.from({ length: 200 }, () => open(['POST /user/lead HTTP/1.1', 'Host: x', ...form]))
  for (const reader of [...readers, ...readers]) {
    const authorization = `Authorization: Bearer ${await token(reader)}`
    sockets.push(open(['GET /user/leads/export HTTP/1.1', 'Host: x', authorization], false))
  }
  const heavy = await token(`heavy-${n}`) // imports of the earlier rounds may still run
  const to = await newCampaign(url, heavy)
  const uploads = Promise.all(Array.from({ length: 8 }, () => upload(url, heavy, to, rows)))
  const beside = await asGoodUser({ ...user, from: user.from + times })
  const answer = await fetch(`${url}/user/leads/export`, { headers: { authorization: `Bearer ${good}` } })
  await answer.arrayBuffer()
  for (const socket of sockets) socket.destroy()
  return { alone, beside, exported: answer.status, uploads: (await uploads).sort() }
}

const headersOf = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })

async function newCampaign (url: string, token: string): Promise<number> {
  const body = JSON.stringify({ name: 'Autumn' })
  const answer = await fetch(`${url}/user/campaign`, { method: 'POST', headers: headersOf(token), body })
  const { data } = await answer.json() as { data: { id: number } }
  return data.id
}

async function asGoodUser (user: GoodUser): Promise<Outcome> {
  const child = fork(new URL('good-user-main.js', import.meta.url))
  child.send(user)
  const [{ statuses, took }] = await once(child, 'message', { signal: AbortSignal.timeout(300_000) }) as [Answered]
  took.sort((one, two) => one - two)
  return { statuses, p99: took[Math.floor(took.length * 0.99)] ?? 0 }
}

async function upload (url: string, token: string, campaign: number, rows: number): Promise<number> {
  const text = ['phone_number,plan', ...Array.from({ length: rows }, (_, n) => `+1888${String(n).padStart(7, '0')},yearly`), '']
  const headers = { ...headersOf(token), 'content-type': 'text/csv' }
  const answer = await fetch(`${url}/user/leads/import?campaign_id=${campaign}`, { method: 'POST', headers, body: text.join('\n') })
    .catch(() => undefined) // refused while it still sends
  await answer?.arrayBuffer()
  return answer?.status ?? 429
}
