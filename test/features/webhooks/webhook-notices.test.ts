// GET /user/webhook-notices
import t from 'tap'
import { isRefusal } from '../../support/http/is-refusal.js'
import { webhookService } from '../../support/scenes/webhook-service.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'

const { call, get, create, complete, parts } = await webhookService(t)

t.test('an endpoint that was suspended is told to its user, and to nobody else', async (t) => {
  const assistant = await create((await receiver(t, answers(410))).url)
  const { id } = await complete(assistant, ({ status }) => status === 'cancelled')
  const { data, meta } = await eventually(async () => {
    const told = await get('/user/webhook-notices') // after the outcome of the attempt is written
    return told.data.length > 0 && told
  })
  t.match(data, [{ id: Number, type: 'endpoint_suspended', assistant_id: assistant, delivery_id: id, reason: 'gone' }])
  t.same(Object.keys(data[0]), ['id', 'type', 'assistant_id', 'delivery_id', 'reason', 'at'])
  t.same(meta, { page: 1, per_page: 15, total: 1, last_page: 1, next: null })
  t.match(await get('/user/webhook-notices', '2'), { data: [], meta: { total: 0 } })
})

t.test('pages go on with after, newest first', async (t) => {
  await parts.pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type) SELECT '3', 'delivery_exhausted' FROM generate_series(1, 5)`)
  const first = await get('/user/webhook-notices?per_page=3&after=', '3')
  const second = await get(`/user/webhook-notices?per_page=3&after=${first.meta.next}`, '3')
  const ids = [...first.data, ...second.data].map(({ id }: { id: number }) => id)
  t.equal(ids.length, 5)
  t.same(ids, ids.toSorted((a, b) => b - a))
  t.equal(second.meta.next, null)
  isRefusal(t, await call('GET', '/user/webhook-notices?after=x'), 422, 'no cursor of ours')
})
