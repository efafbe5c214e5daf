// What is measured of each checkout, one scene after the other.
import { setTimeout as delay } from 'node:timers/promises'
import { appendUntil, reads } from '../event-store/load.js'
import { endedCall } from '../support/calls.js'
import { Client } from '../support/client.js'
import { figuresOf, sendRequests, watchCpu, type Figures } from '../support/load.js'
import { proportionalMemory, scheduledMs, sum } from '../support/processes.js'
import type { Kinds } from '../support/requests.js'
import type { Arrivals } from './arrivals.js'
import { userCount, type Stack } from './stack.js'

/** Of how much. */
export interface Size { seconds: number, rows: number, calls: number }

export interface Measures {
  /** CPU and statements are of one unit. */
  unit: string
  queue: 'Postgres' | 'Redis'
  /** A rate that the load generator sets is no figure. */
  isPaced: boolean
  /** Whether SQL statements are counted, in a run of their own. */
  isCounted: boolean
  /** Whether processes that run already do it, so that a first run, which is not counted, warms them up. */
  isWarmedUp: boolean
  measure (stack: Stack, size: Size): Promise<Partial<Figures> & { units: number, peak?: number }>
}

const plain = { queue: 'Postgres', isPaced: false, isCounted: false, isWarmedUp: true } as const
const topCalls = 64

export const scenesOf = (arrivals: Arrivals): Record<string, Measures> => ({
  'replay calls': { ...plain, unit: 'event', isWarmedUp: false, measure: replay },
  append: { ...plain, unit: 'event', measure: append },
  'read $all': { ...plain, unit: 'event', measure: readAll },
  'POST lead, 1 in flight': requests('POST lead', 1),
  'POST lead, 32 in flight': requests('POST lead', 32),
  'PUT assistant, 32 in flight': requests('PUT assistant', 32),
  'GET lead, 32 in flight': requests('GET lead', 32),
  'GET leads, 32 in flight': requests('GET leads', 32),
  'import leads': { ...plain, unit: 'row', measure: importLeads },
  ...calls('Postgres', arrivals),
  ...calls('Redis', arrivals)
})

function requests (kind: keyof Kinds, inFlight: number): Measures {
  return {
    ...plain,
    unit: 'request',
    isCounted: true,
    measure: (stack, { seconds }) => sendRequests(stack.url, stack.pids, { inFlight, seconds }, stack.kinds()[kind])
  }
}

/** From before their report to the arrival of their webhook. */
function calls (queue: Measures['queue'], arrivals: Arrivals): Record<string, Measures> {
  const counted = { ...plain, unit: 'call', queue, isCounted: true }
  return {
    [`calls, 20 a second, queue on ${queue}`]: {
      ...counted,
      isPaced: true,
      measure: (stack, { seconds }) => reportCalls(stack, arrivals, async (next) => {
        const [perSecond, from, running] = [20, performance.now(), [] as Array<Promise<void>>]
        for (let n = 0; n < perSecond * seconds; n++) {
          const dueIn = from + n * 1_000 / perSecond - performance.now()
          if (dueIn > 0) await delay(dueIn)
          running.push(next())
        }
        await Promise.all(running)
      })
    },
    [`calls, ${topCalls} reports in flight, queue on ${queue}`]: {
      ...counted,
      measure: (stack, { seconds }) => reportCalls(stack, arrivals, async (next) => {
        const endsAt = performance.now() + seconds * 1_000
        const report = async () => { while (performance.now() < endsAt) await next() }
        await Promise.all(Array.from({ length: topCalls }, report))
      })
    }
  }
}

type Pace = (next: () => Promise<void>) => Promise<void>

async function reportCalls (stack: Stack, arrivals: Arrivals, pace: Pace): Promise<Figures> {
  const client = new Client(stack.url, '127.0.0.1', 256)
  const taken: number[] = []
  const waiting: Array<Promise<unknown>> = []
  const { spent } = watchCpu(stack.pids)
  const from = performance.now()
  let [nth, lastAt] = [0, from]
  await pace(async () => {
    const { call_id, ...body } = endedCall(stack.chance, stack.assistantOf(1 + nth++ % userCount))
    const reportedAt = performance.now()
    const arrived = arrivals.of(call_id).then((at) => {
      taken.push(at - reportedAt)
      lastAt = Math.max(lastAt, at)
    })
    waiting.push(arrived)
    arrived.catch(() => {}) // told below, once all reports are answered
    const sent = { token: stack.engineToken, body }
    const { status, body: said } = await client.send('POST', `/engine/calls/${call_id}/completed`, sent)
    if (status !== 202) throw new Error(`the report of a call was answered with ${status}: ${said}`)
  })
  await Promise.all(waiting)
  client.close()
  return figuresOf(taken, lastAt - from, spent())
}

/** One event at a time to each of 32 streams, over gRPC. */
async function append (stack: Stack, { seconds }: Size): Promise<Figures> {
  const { spent } = watchCpu(stack.pids)
  const now = Date.now()
  const taken = await appendUntil(stack.events, 32, now, now + seconds * 1_000)
  return figuresOf(taken, Date.now() - now, spent())
}

/** The events that were there before anything was measured: the same ones in both. */
async function readAll (stack: Stack, { calls: units }: Size): Promise<{ units: number } & Partial<Figures>> {
  const { spent } = watchCpu(stack.pids)
  const perSecond = await reads(stack.events, units)
  return { units, perSecond, cpu: { all: sum(spent()) / units } }
}

/** By the command, from its start to its end; CPU and memory are those of the command alone. */
async function replay (stack: Stack, { calls: units }: Size) {
  const { seconds, cpu, peak } = await stack.command('projections', 'replay', 'calls')
  await stack.command('projections', 'drop', 'calls') // or the projector goes on feeding two generations
  return { units, perSecond: units / seconds, cpu: { command: cpu / units }, peak }
}

interface Import { data: { id: string, status: string, created: number } }

async function importLeads (stack: Stack, { rows: units }: Size): Promise<{ units: number } & Partial<Figures>> {
  const ask = async (path: string, init: RequestInit = {}): Promise<Import> => {
    const headers = { ...init.headers, authorization: `Bearer ${stack.tokenOf(1)}` }
    const answer = await fetch(`${stack.url}${path}`, { ...init, headers })
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
    return JSON.parse(await answer.text()) as Import
  }
  const first = stack.chance.whole(10 ** 6, 10 ** 7 - 1)
  const numberOf = (n: number) => `+39${first}${String(n).padStart(5, '0')}`
  const lines = Array.from({ length: units }, (_, n) => `${numberOf(n)},Ada Example,ada@example.com`)
  const { spent } = watchCpu(stack.pids)
  const from = performance.now()
  const body = `phone_number,customer_name,email\r\n${lines.join('\r\n')}\r\n`
  const csv = { method: 'POST', headers: { 'content-type': 'text/csv' }, body }
  const { data: { id } } = await ask('/user/leads/import?campaign_id=1', csv)
  for (;;) {
    const { data } = await ask(`/user/lead-import/${id}`)
    if (data.status !== 'processing') {
      if (data.created !== units) throw new Error(`the import ended with ${JSON.stringify(data)}`)
      const seconds = (performance.now() - from) / 1_000
      return { units, perSecond: units / seconds, cpu: { all: sum(spent()) / units } }
    }
    await delay(50)
  }
}

/** Percent of a core, and MiB. */
export interface Idle { cpu: number, memory: number }

/** All of them at once, as each does nothing. */
export async function idle (stacks: readonly Stack[], seconds: number): Promise<Idle[]> {
  const used = () => stacks.map(({ pids }) => scheduledMs(pids))
  const [before, from] = [used(), performance.now()]
  await delay(seconds * 1_000)
  const [after, ms] = [used(), performance.now() - from]
  return stacks.map(({ pids }, n) => {
    // Threads that ended are left out.
    const since = [...after[n] ?? []].map(([thread, cpu]) => cpu - (before[n]?.get(thread) ?? 0))
    return { cpu: 100 * since.reduce((all, each) => all + each, 0) / ms, memory: proportionalMemory(pids) }
  })
}
