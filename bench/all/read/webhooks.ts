// Webhooks beside empty jobs of the same queue and bare POSTs to the same receiver.
import type { Measured } from '../../webhooks/report.js'
import { median } from '../../support/statistics.js'
import { atMost, measurement, share, type Found } from '../entry.js'

export function webhookEntries (json: string): Found {
  const measured: Measured[] = JSON.parse(json)
  const measurements = measured.flatMap(({ queue, rates, idle }) => {
    const of = (which: 'delivered' | 'jobs' | 'posts') => median(rates.map((each) => each[which]))
    const isJobs = of('jobs') < of('posts')
    const limit = { value: Math.min(of('jobs'), of('posts')), name: isJobs ? 'empty jobs' : 'bare POSTs' }
    const { p50, p99 } = idle.event
    return [
      measurement(
        { name: `webhooks, queue on ${queue}`, unit: 'deliveries/s', ours: of('delivered'), limit },
        share(queue === 'Redis' ? 0.25 : 0.4)),
      measurement(
        { name: `one webhook at a time, queue on ${queue}`, unit: 'ms', ours: p50, p50_ms: p50, p99_ms: p99 },
        atMost('p50_ms', 25))
    ]
  })
  const missing = measured.some(({ queue }) => queue === 'Redis')
    ? []
    : [{ name: 'webhooks, queue on Redis', reason: 'redis-server is not on the PATH' }]
  return { measurements, missing }
}
