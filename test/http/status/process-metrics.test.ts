// Metrics of the process cost nothing while nobody asks for them.
import perfHooks from 'node:perf_hooks'
import t from 'tap'
import { testService } from '../../support/service.js'

const METRICS_TOKEN = `${'m'.repeat(32)}1`
const service = await testService(t, ['worker'], { METRICS_TOKEN })

t.test('its event loop is watched from the first scrape on: it wakes a process often', async (t) => {
  const measure = t.capture(perfHooks, 'monitorEventLoopDelay', perfHooks.monitorEventLoopDelay)
  t.equal(measure().length, 0)
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const scrape = async () => await (await fetch(`${service.url}/metrics`, { headers })).text()
  for (const text of await Promise.all([scrape(), scrape()])) t.match(text, /^nodejs_eventloop_lag_p99_seconds/m)
  t.equal(measure().length, 1)
  t.match(await scrape(), /^process_cpu_seconds_total /m)
  t.equal(measure().length, 0, 'once')
})
