// Sends one kind of request, so many at once, and tells what it took.
import { Client, type Answer } from './client.js'
import { cpuOf, type Pids } from './processes.js'
import { percentile } from './statistics.js'

export interface Figures {
  units: number
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** Milliseconds of CPU a unit, by process. */
  cpu: Record<string, number>
}

export interface Request {
  method: string
  path: string
  token: string
  body?: object
  /** The status of a good answer. */
  status: number
}

/** @param nextRequest the n-th of all. @throws when an answer is not the wanted one */
export async function sendRequests (
  url: string, pids: Pids, { inFlight, seconds }: { inFlight: number, seconds: number }, nextRequest: () => Request
): Promise<Figures> {
  const client = new Client(url, '127.0.0.1', inFlight)
  const measured = await measureAtOnce({ inFlight, seconds }, pids, async () => {
    const { method, path, token, body, status } = nextRequest()
    assertStatus(status, await client.send(method, path, { token, ...(body && { body }) }))
  })
  client.close()
  return measured
}

/** V8 compiles what is used often: the api spends nearly twice as much on a request in its first seconds. */
export async function warmUp (url: string, seconds: number, nextRequest: () => Request): Promise<void> {
  await sendRequests(url, {}, { inFlight: 32, seconds }, nextRequest)
}

function assertStatus (wanted: number, { status, body }: Answer): void {
  if (status !== wanted) throw new Error(`a request was answered with ${status} where ${wanted} is right: ${body}`)
}

/** Does something so many times at once, for so long. */
async function measureAtOnce (
  { inFlight, seconds }: { inFlight: number, seconds: number }, pids: Pids, act: () => Promise<unknown>
): Promise<Figures> {
  const taken: number[] = []
  const { spent } = watchCpu(pids)
  const from = performance.now()
  const endsAt = from + seconds * 1_000
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (performance.now() < endsAt) {
      const sentAt = performance.now()
      await act()
      taken.push(performance.now() - sentAt)
    }
  }))
  const lasted = performance.now() - from
  return figuresOf(taken, lasted, spent())
}

/** @param taken milliseconds of each unit @param lasted of all together @param cpu of all together, by process */
export function figuresOf (taken: readonly number[], lasted: number, cpu: Record<string, number>): Figures {
  const units = taken.length
  return {
    units,
    perSecond: units / lasted * 1_000,
    p50: percentile(taken, 0.5),
    p99: percentile(taken, 0.99),
    cpu: Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, ms / units]))
  }
}

/** From now on. @returns what tells the milliseconds of CPU since then, by process */
export function watchCpu (pids: Pids): { spent (): Record<string, number> } {
  const before = cpuOf(pids)
  return {
    spent: () => Object.fromEntries(Object.entries(cpuOf(pids)).map(([name, ms]) => [name, ms - (before[name] ?? 0)]))
  }
}
