// What the service takes while nobody asks for anything.
import type { Idle } from '../../idle/report.js'
import { atMost, measurement, sum, type Found } from '../entry.js'

export function idleEntries (json: string): Found {
  const { percent, memory, statements }: Idle = JSON.parse(json)
  const { postgres: _shared, ...own } = memory
  const shares = (of: typeof memory, which: 'pss' | 'rss') => Object.values(of).reduce((all, each) => all + each[which], 0)
  return {
    measurements: [
      measurement({
        name: 'idle, all in one process', unit: '% of a core', ours: sum(percent), peak_rss_mb: shares(own, 'rss') || NaN
      }, atMost('ours', 1)),
      measurement({ name: 'idle memory, Postgres included', unit: 'MiB', ours: shares(memory, 'pss') || NaN }, atMost('ours', 250)),
      measurement({ name: 'idle SQL', unit: 'statements/s', ours: statements })
    ],
    missing: []
  }
}
