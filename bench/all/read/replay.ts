// Replays beside a process that reads the same events and does nothing with them.
import type { Measured } from '../../replay/report.js'
import { all, atMost, measurement, share, type Found } from '../entry.js'

export function replayEntries (json: string): Found {
  const { replayed, lag }: Measured = JSON.parse(json)
  const replays = replayed.map(({ name, drained, seconds, peak, cpu }) => measurement({
    name: `replay of ${name}`,
    unit: 'events/s',
    ours: drained.events / seconds,
    limit: { value: drained.events / drained.seconds, name: 'reading alone' },
    cpu_ms: cpu / drained.events,
    peak_rss_mb: peak
  }, all(share(0.7), atMost('peak_rss_mb', 300))))
  const visible = measurement({
    name: 'from append to readers', unit: 'writes/s', ours: lag.perSecond, p50_ms: lag.visible[0], p99_ms: lag.visible[1]
  })
  return { measurements: [...replays, visible], missing: [] }
}
