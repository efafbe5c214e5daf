// An attempt that had started when its person is erased may reach its receiver still: the erasure ends behind it.
import t, { type Test } from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { erasing } from '../../support/persons/erasing.js'
import { answers, receiver, type Answer } from '../../support/receivers/receiver.js'
import { caller } from '../../support/running-service.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { closeLost } from '../../../workers/deliveries/outcome.js'
import { eraseDeliveries } from '../../../workers/deliveries/pending.js'
import { redeliver } from '../../../workers/operate/redeliver.js'
import { ended, failedOnce, id } from '../../support/workers/delivery-rig.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_SCHEDULE: '0s', WEBHOOK_TIMEOUT_MS: '30000'
})
const { call, parts: { pool } } = service
const erase = erasing(service)
const isSending = 'an attempt to send a webhook'
let count = 0

/** A lead with a call, of which the receiver has got the webhook. */
async function called (t: Test, answer: Answer) {
  const hook = await receiver(t, answer)
  const [gone, callId] = [numberOf(++count), `flying-${count}`]
  const webhook = { is_webhook_active: true, webhook_url: hook.url }
  const assistant = (await call('POST', '/user/assistant', newAssistant(webhook))).body.data.id
  const lead_id = (await call('POST', '/user/lead', newLead({ phone_number: gone }))).body.data.id
  await call('POST', `/engine/calls/${callId}/completed`, callReport(assistant, { from: gone, lead_id }), { user: 'engine' })
  await eventually(() => hook.received.length === 1)
  return { gone, callId, hook }
}

const outcomesOf = async (callId: string) => (await pool.query<{ outcome: string | null }>(`
  SELECT a.outcome FROM ledger.webhook_attempts a JOIN ledger.webhook_deliveries d ON d.id = a.delivery_id
  WHERE call_id = $1 ORDER BY n, trigger`, [callId])).rows.map(({ outcome }) => outcome)
const deliveryOf = async (callId: string) =>
  (await pool.query('SELECT id, status, body FROM ledger.webhook_deliveries WHERE call_id = $1', [callId])).rows[0]

/** Hangs until the erasure says that it waits for it. */
function hanging () {
  let end = () => {}
  const answer: Answer = (response) => { end = () => { response.headersSent || response.writeHead(500).end() } }
  return { answer, waits: async (waitsFor?: string) => { if (waitsFor === isSending) end() } }
}

t.test('a redelivery, whose kept answer is forgotten, also below BASE_PATH', async (t) => {
  const { gone, callId, hook } = await called(t, answers(200))
  await eventually(async () => (await deliveryOf(callId)).status === 'delivered')
  const { answer, waits } = hanging()
  hook.answer = answer
  const send = caller((await service.start(['api'], { BASE_PATH: '/v1' })).url)
  const asked = { token: await service.token('1'), headers: { 'idempotency-key': 'again' } }
  const again = `/v1/user/webhook-deliveries/${(await deliveryOf(callId)).id}/redeliver`
  t.equal((await send('POST', again, asked)).status, 202)
  t.match(await send('POST', again, asked), { status: 202, body: { data: { call_id: callId } } })
  await eventually(() => hook.received.length === 2)
  await erase(gone, {
    waits, scavenge: async () => t.strictSame((await outcomesOf(callId)).sort(), ['delivered', 'rejected'], 'it has ended')
  })
  const errors = { 'Idempotency-Key': ['was used for a request about a person who has been erased since'] }
  t.match(await send('POST', again, asked), { status: 422, body: { errors } })
})

t.test('one whose worker was killed is waited for until it is closed as lost, as a pass of the reconciler does', async (t) => {
  const { gone, callId } = await called(t, answers(200))
  await eventually(async () => (await deliveryOf(callId)).status === 'delivered')
  await pool.query(`
    INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at, worker, started_at)
    SELECT id, 'manual', assistant_id, user_id, now(), 0, now() FROM ledger.webhook_deliveries WHERE call_id = $1`, [callId])
  await erase(gone, { waits: async (waitsFor) => { if (waitsFor === isSending) await closeLost(pool) } })
  t.match(await deliveryOf(callId), { status: 'delivered', body: null })
})

t.test('a receiver that answers later is not quoted', async (t) => {
  const { r, hook } = await failedOnce(t)
  let answer = () => {}
  hook.answer = (response) => { answer = () => response.writeHead(500).end('Ada Hidden is known to us') }
  await redeliver(r.pool, id, '1')
  await r.reconcile()
  await eventually(() => hook.received.length === 2)
  await inTransaction(r.pool, (tx) => eraseDeliveries(tx, ['c-1']))
  answer()
  await ended(r, 2)
  t.match(await r.attempts(), [{ response_excerpt: null }, { response_excerpt: null }])
})
