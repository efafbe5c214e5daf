// Metrics of the process cost nothing while nobody asks for them.
import perfHooks from 'node:perf_hooks'
import fastify from 'fastify'
import t from 'tap'

type Module = typeof import('../../../src/http/metrics.js')
/** By itself: services of other files of this process may have been asked. */
const { openMetrics } = await import(`${import.meta.resolve('../../../src/http/metrics.js')}?apart`) as Module

t.test('its event loop is watched from the first scrape on: it wakes a process often', async (t) => {
  const measure = t.capture(perfHooks, 'monitorEventLoopDelay', perfHooks.monitorEventLoopDelay)
  const metrics = openMetrics(fastify().log)
  t.equal(measure().length, 0)
  const [text, other] = await Promise.all([metrics.text(), openMetrics(fastify().log).text()])
  for (const each of [text, other]) t.match(each, /^nodejs_eventloop_lag_p99_seconds/m)
  t.equal(measure().length, 1, 'once, for all services of a process')
  t.match(await metrics.text(), /^process_cpu_seconds_total /m)
  t.equal(measure().length, 0)
})
