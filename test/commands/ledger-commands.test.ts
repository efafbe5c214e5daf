// Idempotency-Key of commands that write no event: redeliver, test, resume, secrets.
import t, { type Test } from 'tap'
import { isRefusal } from '../support/running-service.js'
import { newAssistant } from '../support/bodies/bodies.js'
import { receiver } from '../support/receivers/receiver.js'
import { eventually } from '../support/eventually.js'
import { testService } from '../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
})
const { call } = service
const { pool } = service.parts

/** A user's assistant with a webhook, and a delivery. */
async function owned (t: Test, user: string) {
  const hook = await receiver(t)
  const created = await call('POST', '/user/assistant', newAssistant({
    is_webhook_active: true, webhook_url: hook.url
  }), { user })
  const { id } = created.body.data
  const post = (path: string, key?: string, body?: object) => call('POST', path, body, {
    user, ...(key !== undefined && { headers: { 'idempotency-key': key } })
  })
  const tested = await post(`/user/assistant/${id}/webhook-test`)
  const delivery = tested.body.data.id
  await eventually(() => hook.received.length === 1)
  return { id, delivery, hook, post }
}

const keysOf = async (user: string) =>
  (await pool.query('SELECT key, answer FROM ledger.idempotency_keys WHERE user_id = $1', [user])).rows

t.test('every POST about webhooks does its work once per key, and answers the same again', async (t) => {
  const { id, delivery, post } = await owned(t, '11')
  const paths = [
    `/user/webhook-deliveries/${delivery}/redeliver`,
    `/user/assistant/${id}/webhook-test`,
    `/user/assistant/${id}/webhook-resume`,
    `/user/assistant/${id}/webhook-secret`,
    '/user/webhook-secret/rotate'
  ]
  for (const path of paths) {
    const first = await post(path, 'once')
    t.ok([200, 202].includes(first.status), path)
    t.equal(first.headers.get('idempotent-replayed'), null)
    const again = await post(path, 'once')
    t.same([again.status, again.body], [first.status, first.body], path)
    t.equal(again.headers.get('idempotent-replayed'), 'true')
    const other = await post(path, 'once', { overlap_hours: 1 })
    isRefusal(t, other, 422, `${path}: another body`)
    t.same(Object.keys(other.body.errors), ['Idempotency-Key'])
  }
  const { rows } = await pool.query(`
    SELECT trigger, count(*)::integer FROM (
      SELECT trigger FROM ledger.webhook_attempts UNION ALL SELECT trigger FROM ledger.webhook_due) asked GROUP BY 1`)
  t.same(rows.toSorted((a, b) => a.trigger.localeCompare(b.trigger)), [{ trigger: 'manual', count: 1 }, { trigger: 'test', count: 2 }])
  const dropped = (key: string) =>
    call('DELETE', `/user/assistant/${id}/webhook-secret`, undefined, { user: '11', headers: { 'idempotency-key': key } })
  t.same((await dropped('gone')).body, (await dropped('gone')).body)
})

t.test('of many requests with one key at once one does the work, and the others get its answer or a 409', async (t) => {
  const { id, post } = await owned(t, '12')
  const answers = await Promise.all(Array.from({ length: 12 }, () => post(`/user/assistant/${id}/webhook-secret`, 'together')))
  const good = answers.filter(({ status }) => status === 200)
  for (const { status, headers } of answers) t.ok(status === 200 || (status === 409 && headers.get('retry-after')))
  t.equal(new Set(good.map(({ body }) => body.data.secret)).size, 1)
  const { rows } = await pool.query(
    "SELECT FROM ledger.webhook_secrets WHERE user_id = '12' AND assistant_id IS NOT NULL"
  )
  t.equal(rows.length, 1)
})

t.test('a secret stands nowhere in the rows that keep the answer', async (t) => {
  const { post } = await owned(t, '15')
  const { body: { data: { secret } } } = await post('/user/webhook-secret/rotate', 'sealed')
  const [row] = await keysOf('15')
  t.notOk(Buffer.from(row.answer).includes(secret))
})
