// The embedded event store beside its server on memory.
import type { Reported } from '../../event-store/reported.js'
import { measurement, share, type Found } from '../entry.js'

/** What is to be reached at this many appends in flight; fewer are round trips and the disk. */
const many = 256

export function eventStoreEntries (json: string): Found {
  const { rows, latency, resident }: Reported = JSON.parse(json)
  const [memory = NaN] = resident.slice(-1)
  const measurements = rows.map(({ what, sql, memory: limit, ms, rawMs }) => measurement({
    name: `event store: ${what.replace('/s', '')}`,
    unit: 'events/s',
    ours: sql,
    limit: { value: limit, name: 'on memory' },
    peak_rss_mb: memory,
    ...(ms && { p50_ms: ms[0], p99_ms: ms[1] })
  }, (entry) => {
    if (!ms || what.endsWith(` ${many} in flight`)) return share(0.7)(entry)
    if (!what.endsWith(' 1 in flight') || !rawMs) return []
    return [{ text: `p50 below ${(5 * rawMs[0]).toFixed(1)} ms, five raw inserts`, isMet: ms[0] < 5 * rawMs[0] }]
  }))
  const arrival = { unit: 'ms', ours: latency.p50, p50_ms: latency.p50, p99_ms: latency.p99 }
  return { measurements: [...measurements, measurement({ name: 'event store: from append to subscriber', ...arrival })], missing: [] }
}
