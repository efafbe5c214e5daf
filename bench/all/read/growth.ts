// What the size of the log and the length of a stream cost, beside the smallest of them.
import type { Grown } from '../../growth/measure.js'
import { measurement, sum, type Entry, type Found } from '../entry.js'

/** Of the rate on a small log, so much is left on a large one at least. */
const leastShare = 0.8
/** A change of a long stream takes so many times that of a short one at most. */
const mostTimes = 3

export function growthEntries (json: string): Found {
  const [smallest, ...larger]: Grown[] = JSON.parse(json)
  const sized = larger.flatMap(({ events, requests }) => Object.entries(requests).map(([name, figures]) => {
    const small = smallest?.requests[name]
    return measurement({
      name: `${name}, ${events} events`,
      unit: 'requests/s',
      ours: figures.perSecond,
      limit: small && { value: small.perSecond, name: `with ${smallest?.events} events` },
      p50_ms: figures.p50,
      p99_ms: figures.p99,
      cpu_ms: sum(figures.cpu) || NaN,
      peak_rss_mb: sum(figures.peak) || NaN
    }, ({ ratio }) => [{ text: `${leastShare * 100} % of the limit`, isMet: (ratio ?? 0) >= leastShare }])
  }))
  const [short, ...longer] = larger.at(-1)?.streams ?? smallest?.streams ?? []
  const streams = longer.map(({ updates, cold }) => measurement({
    name: `first PUT of a process, ${updates} updates`,
    unit: 'ms',
    ours: cold,
    limit: short && { value: short.cold, name: `after ${short.updates} updates` }
  }, ({ ratio }: Entry) => [{ text: `${mostTimes} times the limit at most`, isMet: (ratio ?? Infinity) <= mostTimes }]))
  return { measurements: [...sized, ...streams], missing: [] }
}
