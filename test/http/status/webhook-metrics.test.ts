// What a worker measures of its webhooks.
import t from 'tap'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { valueOf } from '../../support/running-service.js'
import { eventually } from '../../support/eventually.js'
import { webhookService } from '../../support/scenes/scenes.js'
import { readFile } from 'node:fs/promises'

const { call, create, complete, token, url } = await webhookService(t)
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
  await complete(assistant, ({ attempts }) => attempts.some(({ outcome }) => outcome === 'rejected'))
  await call('POST', `/user/assistant/${assistant}/webhook-test`)
  await eventually(async () => await measured('attempts_total{trigger="test",outcome="rejected"}') === 1)
  t.equal(await measured('attempts_total{trigger="schedule",outcome="delivered"}'), 1)
  t.equal(await measured('attempts_total{trigger="schedule",outcome="rejected"}'), 1)
  t.equal(await measured('delivery_latency_seconds_count'), 1, 'of the schedule alone')
  t.ok((await measured('delivery_latency_seconds_sum') ?? 0) > 0)
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
