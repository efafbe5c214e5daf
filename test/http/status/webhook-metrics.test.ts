// What a worker measures of its webhooks.
import t from 'tap'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { valueOf } from '../../support/running-service.js'
import { eventually } from '../../support/eventually.js'
import { webhookService } from '../../support/scenes/scenes.js'
import { readFile } from 'node:fs/promises'

const { call, create, complete, parts, token, url } = await webhookService(t)
const scrape = async () => {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${await token('op', 'ops')}` } })
  return await response.text()
}
const measured = async (name: string) => valueOf(await scrape(), `ringledger_webhook_${name}`)

t.test('attempts are counted by trigger and outcome, and what was delivered has its latency', async (t) => {
  const hook = await receiver(t)
  const assistant = await create(hook.url)
  await complete(assistant, ({ status }) => status === 'delivered')
  hook.answer = answers(500)
  const failed = await complete(assistant, ({ attempts }) => attempts.some(({ outcome }) => outcome === 'rejected'))
  await call('POST', `/user/assistant/${assistant}/webhook-test`)
  await eventually(async () => await measured('attempts_total{trigger="test",outcome="rejected"}') === 1)
  t.equal(await measured('attempts_total{trigger="schedule",outcome="delivered"}'), 1)
  t.equal(await measured('attempts_total{trigger="schedule",outcome="rejected"}'), 1)
  t.equal(await measured('delivery_latency_seconds_count'), 1, 'of the schedule alone')
  t.ok((await measured('delivery_latency_seconds_sum') ?? 0) > 0)
  t.equal(await measured('deliveries_exhausted_total'), 0)
  await eventually(async () => await measured('oldest_due_seconds') === 0) // the next attempt is due in an hour
  const holder = await parts.pool.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN; SELECT FROM ledger.webhook_due FOR KEY SHARE') // a claim passes it over
  await parts.pool.query("UPDATE ledger.webhook_due SET due_at = now() - interval '90 s' WHERE delivery_id = $1", [failed.id])
  await eventually(async () => (await measured('oldest_due_seconds') ?? 0) >= 90)
  t.equal(await measured('attempts_waiting'), 1)
  t.equal(await measured('attempts_under_way'), 0)
  t.equal(await measured('deliveries_pending{status="scheduled"}'), 1)
})

t.test('suspended endpoints and parked events have their metrics', async (t) => {
  const assistant = await create((await receiver(t, answers(410))).url)
  t.equal(await measured('endpoints_suspended'), 0)
  await complete(assistant, ({ status }) => status === 'cancelled')
  await eventually(async () => await measured('endpoints_suspended') === 1)
  t.equal(await measured('events_parked'), 0)
  await parts.pool.query(`
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
    VALUES ('dispatcher', 'lead-1', 1, 0, 'LeadCreated', 'no')`)
  await eventually(async () => await measured('events_parked') === 1)
})

t.test('every metric of every role is documented and recorded', async (t) => {
  const text = await scrape()
  const documents = await readFile('docs/operations.md', 'utf8')
  const measured = [...text.matchAll(/^# TYPE (ringledger_\w+)/gm)].map(([, name = '']) => name)
  t.ok(measured.length > 20)
  const recorded = [...(await readFile('test/golden/surfaces/metrics.txt', 'utf8')).matchAll(/^\w+ (ringledger_\w+)\{/gm)]
  t.same([...measured].sort(), recorded.map(([, name = '']) => name).sort())
  t.same(measured.filter((name) => !documents.includes(`\`${name}\``)), [])
})
