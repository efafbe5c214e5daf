// Sends one kind of request, so many at once, and tells what it took.
import { Client, type Answer } from '../support/client.js'
import { cpuOf, memoryOf, peaksOf, type Pids } from '../support/processes.js'
import { percentile } from '../support/statistics.js'

export interface Figures {
  requests: number
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** Milliseconds of CPU a request, by process. */
  cpu: Record<string, number>
  /** MiB at the end, by process. */
  memory: Record<string, number>
  /** The most resident MiB so far, by process; without Postgres. */
  peak: Record<string, number>
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
export async function measureAtOnce (
  { inFlight, seconds }: { inFlight: number, seconds: number }, pids: Pids, act: () => Promise<unknown>
): Promise<Figures> {
  const taken: number[] = []
  const before = cpuOf(pids)
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
  const after = cpuOf(pids)
  return {
    requests: taken.length,
    perSecond: taken.length / lasted * 1_000,
    p50: percentile(taken, 0.5),
    p99: percentile(taken, 0.99),
    cpu: Object.fromEntries(Object.entries(after).map(([name, ms]) =>
      [name, (ms - (before[name] ?? 0)) / taken.length])),
    memory: memoryOf(pids),
    peak: peaksOf(pids)
  }
}
