// Commands beside bare appends, and reads beside the same statement in a bare app.
import type { Limit, Row } from '../../commands/report.js'
import { atMost, measurement, share, sum, type Aim, type Entry, type Found } from '../entry.js'

export function commandEntries (json: string): Found {
  const { rows }: { rows: Row[], limits: Limit[] } = JSON.parse(json)
  const measurements = rows.flatMap((row) => {
    const { name, inFlight, figures, limit, statements } = row
    const measured = measurement({
      name: `${name}, ${inFlight} in flight`,
      unit: 'requests/s',
      ours: figures.perSecond,
      limit: limit && { value: limit.perSecond, name: /^GET/.test(name) ? 'the same SQL in a bare app' : 'bare appends' },
      p50_ms: figures.p50,
      p99_ms: figures.p99,
      cpu_ms: sum(figures.cpu) || NaN,
      peak_rss_mb: sum(figures.peak) || NaN
    }, (entry) => aimsOf(row, entry))
    if (!statements) return [measured]
    const aim = name === 'POST lead' && inFlight === 1 ? atMost('ours', 4) : undefined
    const counted = { name: `SQL of ${name}, ${inFlight} in flight`, unit: 'statements', ours: sum(statements) }
    return [measured, measurement(counted, aim)]
  })
  return { measurements, missing: [] }
}

function aimsOf ({ name, inFlight, limit }: Row, entry: Entry): Aim[] {
  if (/^GET .*page/.test(name)) return atMost('p99_ms', 20)(entry)
  if (name === 'GET lead' && inFlight === 32) return share(0.5)(entry)
  if (/^(POST|PUT)/.test(name) && limit && inFlight === 32) return share(name.endsWith('no wait') ? 0.4 : 0.25)(entry)
  if (name === 'POST lead' && limit && inFlight === 1) return atMost('p50_ms', Number((limit.p50 + 2.5).toFixed(1)))(entry)
  return []
}
