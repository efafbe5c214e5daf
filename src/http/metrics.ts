// What Prometheus scrapes. Labels are bounded: route patterns, names of ours, states; never ids or query strings.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { withTimeout } from '../timing.js'

/** One value, by its labels. */
export interface Sample { labels: Record<string, string | number>, value: number }

export type Metrics = ReturnType<typeof openMetrics>

// Metrics of the process, shared by all services in it. Collected from the first scrape on, because measuring the delay
// of the event loop wakes a process a hundred times a second.
const ofProcess = new Registry()

async function textOfProcess (): Promise<string> {
  if (ofProcess.getMetricsAsArray().length === 0) collectDefaultMetrics({ register: ofProcess })
  return await ofProcess.metrics()
}

const longestReadMs = 2_000

/** The metrics of one service; names get the prefix `ringledger_`. */
export function openMetrics (log: FastifyBaseLogger) {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Histogram({
    name: 'ringledger_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers
  })
  const failures = new Counter({
    name: 'ringledger_metrics_failures_total',
    help: 'Metrics left out of a scrape because they could not be read.',
    labelNames: ['metric'],
    registers
  })
  const commands = { accepted: 0, refused: 0, failed: 0 }
  const readAtScrape = (Kind: typeof Gauge | typeof Counter) => (
    name: string, help: string, labelNames: string[], read: () => Sample[] | Promise<Sample[]>
  ): void => {
    failures.inc({ metric: name }, 0) // so that the first failure is a rise
    const late = () => new Error(`no answer within ${longestReadMs} ms`)
    const collect = async () => {
      const samples = await withTimeout(longestReadMs, Promise.resolve().then(read), late).catch((error: unknown) => {
        log.warn({ err: error, metric: name }, 'a metric could not be read')
        failures.inc({ metric: name })
        return []
      })
      metric.reset() // synchronous from here on, so that concurrent scrapes do not mix
      if (labelNames.length === 0) metric.remove() // reset() writes 0, but an unreadable value must be absent
      for (const { labels, value } of samples) metric.inc(labels, value)
    }
    const metric: Gauge | Counter = new Kind({ name: `ringledger_${name}`, help, labelNames, registers, collect })
  }

  return {
    /** A gauge that is read at every scrape. A value that cannot be read is left out, and counted. */
    gauge: readAtScrape(Gauge),
    /** Like `gauge`, for values that only rise while the process lives. */
    counter: readAtScrape(Counter),
    /** A counter of events. @returns counts one or more */
    events (name: string, help: string, labelNames: string[]) {
      const counter = new Counter({ name: `ringledger_${name}`, help, labelNames, registers })
      return (labels: Sample['labels'], count = 1) => counter.inc(labels, count)
    },
    /** A histogram in seconds. @returns records one duration */
    durations (name: string, help: string, buckets: number[]) {
      const histogram = new Histogram({ name: `ringledger_${name}`, help, buckets, registers })
      return (seconds: number) => histogram.observe(seconds)
    },
    /** Counts an answered request by its route pattern, `none` where no route fits. */
    observe ({ method, routeOptions }: FastifyRequest, { statusCode: status, elapsedTime }: FastifyReply) {
      requests.observe({ method, route: routeOptions.url ?? 'none', status }, elapsedTime / 1000)
      if (routeOptions.config.failure === undefined) return // only commands have it
      commands[status < 400 ? 'accepted' : status < 500 ? 'refused' : 'failed'] += 1
    },
    /** Commands that this process has answered: with 2xx, 4xx and 5xx. */
    commands,
    contentType: registry.contentType,
    /** In the text format of Prometheus. */
    text: async () => `${await registry.metrics()}\n${await textOfProcess()}`
  }
}
