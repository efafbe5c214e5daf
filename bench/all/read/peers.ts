// This service beside the same one written with Emmett.
import type { Measured } from '../../peers/measure.js'
import type { Rebuilt } from '../../peers/rebuild.js'
import { median } from '../../support/statistics.js'
import { measurement, sum, type Entry, type Found } from '../entry.js'

const [ringledger, emmett] = ['Ringledger', 'Emmett on EventStoreDB']

export function peerEntries (json: string): Found {
  const { measured, rebuilt }: { measured: Measured[], rebuilt: Rebuilt[] } = JSON.parse(json)
  const waiting = measured.filter(({ waits }) => waits)
  const kinds = new Map(waiting.map(({ request, inFlight }) => [`${request}, ${inFlight} in flight`, { request, inFlight }]))
  const requests = [...kinds].map(([name, { request, inFlight }]) => {
    const of = (contender: string, value: (one: Measured) => number) => median(waiting.filter((each) =>
      each.contender === contender && each.request === request && each.inFlight === inFlight).map(value))
    return measurement({
      name: `${name}, beside Emmett`,
      unit: 'requests/s',
      ours: of(ringledger, ({ figures }) => figures.perSecond),
      limit: { value: of(emmett, ({ figures }) => figures.perSecond), name: emmett },
      p50_ms: of(ringledger, ({ figures }) => figures.p50),
      p99_ms: of(ringledger, ({ figures }) => figures.p99),
      cpu_ms: of(ringledger, ({ figures }) => sum(figures.cpu)),
      peak_rss_mb: of(ringledger, ({ figures }) => sum(figures.peak))
    }, times(2))
  })
  const rate = (contender: string) => {
    const { events, seconds } = rebuilt.find((each) => each.contender === contender) ?? { events: NaN, seconds: NaN }
    return events / seconds
  }
  const rebuild = measurement({
    name: 'rebuild of leads, beside Emmett',
    unit: 'events/s',
    ours: rate(ringledger),
    limit: { value: rate(emmett), name: emmett }
  }, times(3))
  return { measurements: [...requests, rebuild], missing: [] }
}

const times = (least: number) => ({ ratio }: Entry) => [{ text: `${least} times the limit`, isMet: (ratio ?? 0) >= least }]
