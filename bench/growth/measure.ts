// What a log of some size does to what users and operators wait for.
import { projections } from '../../projections/index.js'
import { Scene } from '../support/scene.js'
import { sendRequests, warmUp, type Figures } from '../support/load.js'
import { kindsOf, type Kinds } from '../support/requests.js'
import { Client } from '../support/client.js'
import { random } from '../support/random.js'
import { madeUp } from '../log/inventory.js'
import { vacuumTables } from '../support/vacuum.js'
import { logOf } from './log.js'
import { measureStreams, type LongStream } from './streams.js'

export interface Grown {
  events: number
  /** Until the read models of an empty database were level, and how fast that was. */
  filled: { seconds: number, eventsPerSecond: number }
  /** By request, 32 in flight. */
  requests: Record<string, Figures>
  streams: LongStream[]
  /** MiB on disk, by schema. */
  disk: Record<string, number>
}

export interface Sizes { seconds: number, lengths: number[] }

const inFlight = 32
export const requestNames = ['POST lead', 'PUT assistant', 'GET lead', 'GET leads'] as const

export async function measureGrown (
  events: number, { seconds, lengths }: Sizes, say: (line: string) => void
): Promise<Grown> {
  const users = Math.min(200, Math.ceil(events / 1_000))
  say(`${events} events are made up`)
  const scene = await Scene.open({ users, assistants: users, leads: 0 }, () => logOf(events, lengths))
  try {
    say(`${events} events: the read models are filled`)
    const filled = await fillReadModels(scene)
    await scene.withPool(vacuumTables)
    const api = await scene.start('api')
    const next = await requestsOf(scene, api.url, users)
    await warmUp(api.url, 20, next['POST lead'])
    const requests: Record<string, Figures> = {}
    for (const name of requestNames) {
      say(`${events} events: ${name}`)
      await sendRequests(api.url, {}, { inFlight: 16, seconds: 1 }, next[name])
      requests[name] = await sendRequests(api.url, scene.pids({ api: api.pid }), { inFlight, seconds }, next[name])
    }
    await api.stop()
    say(`${events} events: streams of ${lengths.join(', ')} updates`)
    return { events, filled, requests, streams: await measureStreams(scene, lengths), disk: await disk(scene) }
  } finally {
    await scene.close()
  }
}

async function fillReadModels (scene: Scene): Promise<Grown['filled']> {
  const from = performance.now()
  await scene.start('projector')
  const head = await scene.untilLevel(projections.map(({ name }) => `read_model.${name}_checkpoint`))
  const seconds = (performance.now() - from) / 1_000
  return { seconds, eventsPerSecond: Number(head) / seconds }
}

/** Leads are those of each user's first page. */
async function requestsOf (scene: Scene, url: string, users: number): Promise<Kinds> {
  const client = new Client(url, '127.0.0.1', 1)
  const leads: Array<{ id: number, user: number }> = []
  for (let user = 1; user <= users; user++) {
    const { body } = await client.send('GET', '/user/leads', { token: scene.tokenOf(user) })
    const page: { data: Array<{ id: number }> } = JSON.parse(body)
    leads.push(...page.data.map(({ id }) => ({ id, user })))
  }
  client.close()
  return kindsOf({ ...madeUp(users), leads, tokenOf: (user) => scene.tokenOf(user) }, random(users))
}

async function disk (scene: Scene): Promise<Record<string, number>> {
  const { rows } = await scene.withPool((pool) => pool.query<{ schema: string, bytes: string }>(`
    SELECT nspname AS schema, sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c
    JOIN pg_namespace n ON n.oid = relnamespace
    WHERE relkind = 'r' AND nspname !~ '^(pg_|information_schema)' GROUP BY nspname`))
  return Object.fromEntries(rows.map(({ schema, bytes }) => [schema, Number(bytes) / 2 ** 20]))
}
