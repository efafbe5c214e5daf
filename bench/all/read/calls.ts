// Calls, from their report to the receiver of their webhook.
import type { Measured } from '../../calls/report.js'
import { all, atMost, measurement, sum, type Aim, type Entry, type Found } from '../entry.js'

type AimsOf = (entry: Entry) => Aim[]

export function callEntries (json: string): Found {
  const measured: Measured[] = JSON.parse(json)
  const measurements = measured.flatMap(({ queue, figures, statements }) => [
    ...Object.entries(figures).map(([pace, each]) => measurement({
      name: `call to receiver, queue on ${queue}, ${pace}`,
      unit: 'calls/s',
      ours: each.perSecond,
      p50_ms: each.p50,
      p99_ms: each.p99,
      cpu_ms: sum(each.cpu) || NaN,
      peak_rss_mb: sum(each.peak) || NaN
    }, aimsOf(queue, pace))),
    ...Object.entries(statements).map(([pace, each]) => measurement(
      { name: `SQL of a call, queue on ${queue}, ${pace}`, unit: 'statements', ours: sum(each) }, statementAim(pace)))
  ])
  const missing = measured.every(({ queue }) => !queue.startsWith('Redis'))
    ? [{ name: 'calls, queue on Redis', reason: 'redis-server is not on the PATH, or it was not asked for' }]
    : []
  return { measurements, missing }
}

function aimsOf (queue: string, pace: string): AimsOf | undefined {
  if (pace === '20/s') return atMost('cpu_ms', 6)
  if (pace === '100/s') return atMost('cpu_ms', 4)
  if (pace === '300/s') return all(atMost('p50_ms', 20), atMost('p99_ms', 80))
  return pace === '64 at once' ? atMost('cpu_ms', queue.startsWith('Redis') ? 1.8 : 2.3) : undefined
}

function statementAim (pace: string): AimsOf | undefined {
  if (pace === '10/s') return atMost('ours', 14)
  return pace === '64 at once' ? atMost('ours', 3) : undefined
}
