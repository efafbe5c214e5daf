// When deliveries were made, and what was sent for them.
import t from 'tap'
import { isRefusal } from '../../support/http/is-refusal.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/webhook-service.js'

const service = await webhookService(t)
const { call, get, create, complete, delivery } = service

t.test('deliveries are listed by the time when they were made', async (t) => {
  const assistant = await create(null)
  const { id, created_at: made } = await complete(assistant, ({ status }) => status === 'skipped')
  const ids = async (query: string) =>
    (await get(`/user/webhook-deliveries?assistant_id=${assistant}&${query}`)).data.map(({ id }: { id: string }) => id)
  const shifted = (ms: number) => encodeURIComponent(new Date(Date.parse(made) + ms).toISOString())
  t.same(await ids(`date_from=${shifted(0)}&date_to=${shifted(1)}`), [id])
  t.same(await ids(`date_from=${shifted(1)}`), [])
  t.same(await ids(`date_to=${shifted(-1)}`), [])
  t.same(await ids(`date_from=${made.slice(0, 10)}&date_to=${made.slice(0, 10)}`), [id])
  const refused = await call('GET', '/user/webhook-deliveries?date_from=2026-02-30')
  isRefusal(t, refused, 422, 'no day')
  t.same(Object.keys(refused.body.errors), ['date_from'])
})

t.test('a delivery shows the request of its newest attempt, without query and signature', async (t) => {
  const hook = await receiver(t, answers(500))
  const secret = '?token=a-secret'
  const { id, request } = await complete(await create(`${hook.url}/calls/1${secret}`), tried(1))
  const [sent] = hook.received
  t.match(request, { method: 'POST', url: `${hook.url}/calls/1`, body: sent?.body.toString() })
  t.same(request.headers, Object.fromEntries(Object.keys(request.headers).map((name) => [name, sent?.headers[name]])))
  t.same(Object.keys(request.headers), [
    'content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-attempt'
  ])
  hook.answer = answers(200)
  await call('POST', `/user/webhook-deliveries/${id}/redeliver`)
  const again = await delivery(id, ({ status }) => status === 'delivered')
  t.equal(again.request.headers['webhook-timestamp'], hook.received[1]?.headers['webhook-timestamp'])
  await service.parts.pool.query('UPDATE ledger.webhook_deliveries SET body = NULL WHERE id = $1', [id])
  t.match((await get(`/user/webhook-deliveries/${id}`)).data.request, { body: null, url: again.request.url })
  const skipped = await complete(await create(null), ({ status }) => status === 'skipped')
  t.equal(skipped.request, null)
})
