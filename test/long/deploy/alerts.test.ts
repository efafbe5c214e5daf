// Each alert fires for what it is about, and for nothing else: promtool evaluates the rules over series of minutes.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { onPath } from '../../support/ringledger.js'

/** By series its value at each minute, as promtool writes them; evaluated at the end of `at`. */
interface Case { fires: Record<string, string>, rests: Record<string, string>, at?: string }

const http = (status: number) => `ringledger_http_request_duration_seconds_count{status="${status}",route="/user/lead"}`
const ended = (bucket: string) => `ringledger_http_request_duration_seconds_bucket{route="/user/lead",le="${bucket}"}`
const made = (outcome: string) => `ringledger_webhook_attempts_total{trigger="schedule",outcome="${outcome}"}`
const taken = (bucket: string) => `ringledger_webhook_delivery_latency_seconds_bucket{le="${bucket}"}`
const of = (name: string, labels = '', fires = '1x90', rests = '0x90', at = '30m'): Case => {
  const series = `ringledger_${name}${labels && `{${labels}}`}`
  return { fires: { [series]: fires }, rests: { [series]: rests }, at }
}

const cases: Record<string, Case> = {
  RingledgerDown: { fires: { 'up{job="ringledger"}': '0x90' }, rests: { 'up{job="ringledger"}': '1x90', 'up{job="other"}': '0x90' } },
  RingledgerCommandsFail: {
    fires: { [http(202)]: '0+97x90', [http(503)]: '0+3x90' }, rests: { [http(202)]: '0+1000x90', [http(503)]: '0+3x90' }
  },
  RingledgerRequestsSlow: {
    fires: { [ended('1')]: '0+90x90', [ended('10')]: '0+100x90', [ended('+Inf')]: '0+100x90' },
    rests: { [ended('1')]: '0+100x90', [ended('10')]: '0+100x90', [ended('+Inf')]: '0+100x90' }
  },
  RingledgerProjectionBehind: of('projection_lag_seconds', 'projection="leads"', '31x90', '29x90'),
  RingledgerProjectionStandsStill: of('projection_alive', 'projection="leads"', '0x90', '1x90'),
  RingledgerLogWentBack: of('projection_lag_events', 'projection="leads"', '-1x90'),
  RingledgerCircuitBreakerOpen: of('projection_circuit_breaker_open', 'projection="leads",generation="1"'),
  RingledgerStreamsParked: of('projection_parked_streams', 'projection="leads",generation="1"'),
  RingledgerDispatcherParked: of('webhook_events_parked'),
  RingledgerConsumerFails: of('consumer_failures_total', 'consumer="dispatcher"', '0+2x90', '3x90'),
  RingledgerNoProjector: {
    fires: { 'ringledger_lease_held{lease="dispatcher"}': '1x90' },
    rests: { 'ringledger_lease_held{lease="projection leads g1"}': '1x10', 'ringledger_metrics_failures_total{metric="lease_held"}': '0x10 1+1x80' }
  },
  RingledgerWebhooksLate: of('webhook_oldest_due_seconds', '', '61x90', '59x90'),
  RingledgerWebhooksPileUp: of('webhook_attempts_waiting', '', '1000+100x90', '9000-100x90'),
  RingledgerWebhooksFail: {
    fires: { [made('timeout')]: '0+6x90', [made('delivered')]: '0+4x90' },
    rests: { [made('timeout')]: '0+4x90', [made('delivered')]: '0+6x90' },
    at: '40m'
  },
  RingledgerWebhooksSlow: {
    fires: { [taken('5')]: '0+40x90', [taken('30')]: '0+100x90', [taken('+Inf')]: '0+100x90' },
    rests: { [taken('5')]: '0+60x90', [taken('30')]: '0+100x90', [taken('+Inf')]: '0+100x90' },
    at: '40m'
  },
  RingledgerWebhooksExhausted: of('webhook_deliveries_exhausted_total', '', '0x20 1x70', '7x90'),
  RingledgerEndpointsSuspended: of('webhook_endpoints_suspended', '', '2x70 3x20', '3x90', '80m'),
  RingledgerCallsInvalid: of('webhook_calls_skipped_total', 'reason="invalid"', '0x20 1x70', '7x90'),
  RingledgerCallsUnaccounted: of('webhook_calls_unaccounted', '', '-1x90'),
  RingledgerPoolWaits: of('postgres_connections', 'state="waiting",pool="api"', '11x90', '10x90'),
  RingledgerMetricsFail: of('metrics_failures_total', 'metric="webhook_attempts_waiting"', '0+1x90', '3x90', '40m'),
  RingledgerBackgroundFails: of('background_requests_failing', 'kind="lead_import"'),
  RingledgerBackgroundSlow: of('background_oldest_seconds', 'kind="lead_import"', '3601x90', '3599x90')
}

/** A counter has no series of an outcome that never was, and what each worker says of all is one alert. */
const oddest: Record<string, Record<string, string>> = {
  RingledgerWebhooksLate: { ringledger_webhook_oldest_due_seconds: '61x27 _x3 61x60' }, // missing at 28 to 30
  RingledgerWebhooksFail: { [made('timeout')]: '0+6x90' },
  RingledgerWebhooksPileUp: {
    'ringledger_webhook_attempts_waiting{instance="1"}': '1000+100x90', 'ringledger_webhook_attempts_waiting{instance="2"}': '1000+100x90'
  }
}

const rulesFile = 'deploy/prometheus/ringledger.rules.yml'
const { groups: [{ rules }] } = parse(await readFile(rulesFile, 'utf8')) as { groups: [{ rules: { alert: string }[] }] }
const promtool = onPath('promtool')

t.test('every alert has series that raise it and series that do not', async (t) => {
  t.same(Object.keys(cases).sort(), rules.map(({ alert }) => alert).sort())
})

if (promtool !== undefined) {
  for (const [alert, { fires, rests, at = '30m' }] of Object.entries(cases)) {
    t.test(alert, async (t) => {
      const file = join(t.testdir(), 'test.yml')
      const tests = [
        { name: 'it fires', series: fires, count: 1 },
        { name: 'it rests', series: rests, count: 0 },
        ...oddest[alert] ? [{ name: 'it fires once', series: oddest[alert], count: 1 }] : []
      ].map(({ name, series, count }) => ({
        name,
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [{
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
          eval_time: at,
          exp_samples: [{ labels: '{}', value: count }]
        }]
      }))
      await writeFile(file, stringify({ rule_files: [resolve(rulesFile)], evaluation_interval: '1m', tests }))
      await t.resolves(promisify(execFile)(promtool, ['test', 'rules', file]).catch(({ stdout, stderr }) => {
        throw new Error(`${stdout}${stderr}`)
      }))
    })
  }
}
