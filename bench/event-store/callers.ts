// Appends from several processes at once: one client alone is slower than the server.
import { fileURLToPath } from 'node:url'
import { percentile } from '../support/statistics.js'
import { run } from '../support/run.js'
import type { Rate } from './load.js'

const mostCallers = 2
const callerAt = fileURLToPath(new URL('./caller.js', import.meta.url))
const startingMs = 2_000 // for the processes to start and to warm up

/** What all callers together reach with so many appends in flight. */
export async function appends (url: string, inFlight: number, seconds: number): Promise<Rate> {
  const beginAt = Date.now() + startingMs
  const callers = Math.min(mostCallers, inFlight)
  const each = [inFlight / callers, beginAt, beginAt + seconds * 1_000].map(String)
  const ran = await Promise.all(Array.from({ length: callers }, () => run([callerAt, url, ...each])))
  const latencies: number[] = ran.flatMap(({ stdout }) => JSON.parse(stdout))
  return { perSecond: latencies.length / seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}
