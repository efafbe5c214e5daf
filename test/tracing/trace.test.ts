// One trace leads from a request through the append and the projections to the webhook. test/cli/start.test.ts has a
// process that sends its traces.
import { InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import t from 'tap'
import { openTelemetry } from '../../src/tracing/open-telemetry.js'
import { traceParent, tracing } from '../../src/tracing/tracing.js'
import { callReport, newAssistant } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { leaksIn } from '../support/run/leaks.js'
import { testService } from '../support/service.js'
import { answers, receiver } from '../support/receivers/receiver.js'
import { localWebhooks } from '../support/running-service.js'

const exporter = new InMemorySpanExporter()
tracing.tracer = openTelemetry({ version: '1', processor: new SimpleSpanProcessor(exporter) })
t.teardown(() => { tracing.tracer = undefined })
const service = await testService(t, ['api', 'projector', 'worker'], localWebhooks)
const hook = await receiver(t, (...given) => answers(given[2] === 1 ? 500 : 200)(...given))

const caller = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }
const traceparent = `00-${caller.trace}-${caller.span}-01`

const spans = () => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === caller.trace)
const named = (name: string) => spans().filter((span) => span.name === name)
const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId

t.test('from the request of a caller to the attempts of the webhook it is one trace', async (t) => {
  const body = { ...newAssistant({ is_webhook_active: true, webhook_url: `${hook.url}?key=hidden` }) }
  const created = await service.call('POST', '/user/assistant', body)
  const engine = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
  const answer = await fetch(`${service.url}/engine/calls/c-1/completed`, {
    method: 'POST',
    headers: { ...engine, 'content-type': 'application/json', traceparent },
    body: JSON.stringify(callReport(Number(created.body.data?.id)))
  })
  t.equal(answer.status, 202)
  await eventually(() => named('webhook attempt').length === 2 && named('projection calls g1').length === 1)
  const [request] = named('POST /engine/calls/:call_id/completed')
  const [append] = named('append call')
  const [projected] = named('projection calls g1')
  const [dispatched] = named('dispatcher')
  t.equal(parentOf(request), caller.span)
  t.equal(parentOf(append), idOf(request))
  t.equal(parentOf(projected), idOf(append))
  t.equal(parentOf(dispatched), idOf(append))
  t.match(request?.attributes, { 'http.response.status_code': 202, 'http.route': '/engine/calls/:call_id/completed' })
  const attempts = named('webhook attempt')
  t.same(attempts.map(parentOf), [idOf(append), idOf(append)])
  t.same(attempts.map(({ attributes, status }) => [attributes['http.response.status_code'], status.code]), [[500, 2], [200, 0]])
  t.same(hook.received.map(({ headers }) => headers.traceparent), attempts.map((span) => `00-${caller.trace}-${idOf(span)}-01`))
  const [event] = await service.parts.streams.read('call-c-1')
  t.equal(event?.metadata.traceparent, `00-${caller.trace}-${idOf(append)}-01`)
})

t.test('a trace that is not wanted is not recorded, and what is no traceparent begins another one', async (t) => {
  exporter.reset()
  for (const header of [traceparent.replace(/01$/, '00'), 'nonsense', `00-${'0'.repeat(32)}-${caller.span}-01`]) {
    await service.call('GET', '/user/leads', undefined, { headers: { traceparent: header } })
  }
  await eventually(() => exporter.getFinishedSpans().filter(({ name }) => name === 'GET /user/leads').length === 2)
  t.same(spans(), [])
  t.equal(traceParent(`${traceparent}-x`), undefined)
})

t.test('probes are not traced, and spans hold nothing of theirs', async (t) => {
  await fetch(`${service.url}/health/ready`)
  await service.call('GET', '/user/leads?phone_number=%2B15557654321')
  await service.call('PUT', '/user/assistant/987654', {})
  await eventually(() => exporter.getFinishedSpans().some(({ name }) => name === 'PUT /user/assistant/:id'))
  const all = JSON.stringify(exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes })))
  t.notMatch(all, /health|987654|hidden|127\.0\.0\.1/)
  t.strictSame(leaksIn(all), [])
})
