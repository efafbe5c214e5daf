// Reports calls over HTTP, and waits for their webhooks.
import { setTimeout as delay } from 'node:timers/promises'
import type { CallCompleted } from '../../src/domain/call/events.js'
import { Client } from '../support/client.js'
import type { Random } from '../support/random.js'
import { percentile } from '../support/statistics.js'
import { endedCall } from '../webhooks/calls.js'
import type { Arrivals } from '../webhooks/idle.js'
import { cpuOf, memoryOf, peaksOf, type Pids } from '../support/processes.js'

/** So many a second, or so many reports at once, for so long. */
export interface Pace { perSecond?: number, atOnce?: number, seconds: number }

export interface Figures {
  calls: number
  /** Webhooks a second, from the first report to the last webhook. */
  perSecond: number
  /** From the report to the receiver, in milliseconds. */
  p50: number
  p99: number
  /** Milliseconds of CPU a call, by process. */
  cpu: Record<string, number>
  /** MiB at the end, by process. */
  memory: Record<string, number>
  /** The most resident MiB so far, by process; without Postgres. */
  peak: Record<string, number>
}

export interface Scene {
  apiUrl: string
  /** Of an engine. */
  token: string
  arrivals: Arrivals
  pids: Pids
  chance: Random
}

/** @param assistantOf the assistant of the n-th call; `isAwaited` whether its webhook is waited for */
export async function reportCalls (
  { apiUrl, token, arrivals, pids, chance }: Scene, pace: Pace,
  assistantOf: (nth: number) => { id: number, isAwaited: boolean }
): Promise<Figures> {
  const client = new Client(apiUrl, '127.0.0.1', 256)
  const taken: number[] = []
  const waiting: Array<Promise<void>> = []
  const before = cpuOf(pids)
  const from = performance.now()
  let [nth, lastAt] = [0, from]
  const next = async () => {
    const { id, isAwaited } = assistantOf(nth++)
    const call = endedCall(chance, id)
    const reportedAt = performance.now()
    if (isAwaited) {
      waiting.push(arrivals.of(call.call_id).then((at) => {
        taken.push(at - reportedAt)
        lastAt = Math.max(lastAt, at)
      }))
    }
    await report(client, token, call)
  }
  await keepPace(pace, next)
  await Promise.all(waiting)
  client.close()
  const after = cpuOf(pids)
  return {
    calls: nth,
    perSecond: taken.length / (lastAt - from) * 1_000,
    p50: percentile(taken, 0.5),
    p99: percentile(taken, 0.99),
    cpu: Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / nth])),
    memory: memoryOf(pids),
    peak: peaksOf(pids)
  }
}

async function keepPace ({ perSecond, atOnce = 1, seconds }: Pace, next: () => Promise<void>): Promise<void> {
  const from = performance.now()
  const endsAt = from + seconds * 1_000
  if (perSecond === undefined) {
    await Promise.all(Array.from({ length: atOnce }, async () => { while (performance.now() < endsAt) await next() }))
    return
  }
  const running: Array<Promise<void>> = []
  for (let n = 0; n < perSecond * seconds; n++) {
    const dueIn = from + n * 1_000 / perSecond - performance.now()
    if (dueIn > 0) await delay(dueIn)
    running.push(next())
  }
  await Promise.all(running)
}

async function report (client: Client, token: string, { call_id, ...body }: CallCompleted): Promise<void> {
  const { status, body: said } = await client.send('POST', `/engine/calls/${call_id}/completed`, { token, body })
  if (status !== 202) throw new Error(`the report of a call was answered with ${status}: ${said}`)
}
