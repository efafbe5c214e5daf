// A delivery from its first attempt to its end: what is sent, when it is sent again, and what is recorded.
import t from 'tap'
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { userSecrets } from '../../../workers/deliver/secrets.js'
import { seal } from '../../../src/privacy/sealed-text.js'
import { deliveryId } from '../../../workers/dispatch/payload.js'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { deliveryRig, settled } from '../../support/workers/delivery-rig.js'
import { ruleRig } from '../../support/workers/sender-rig.js'
import { onEachQueue } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver, stringsOf } from '../../support/receivers/receiver.js'

const { begin } = await ruleRig(t)

onEachQueue(t, {
  async 'a failed attempt is made again, with the same id and the same bytes, until it succeeds' (t, redis) {
    const r = await deliveryRig(t, { redis }, await begin())
    const hook = await receiver(t, (response, ...rest) => answers(rest[1] < 3 ? 500 : 204)(response, ...rest))
    const input_variables = { big: 9007199254740991, accents: 'é\u2028👋' }
    await r.tell(assistantTo(hook.url), callCompleted('c-1', { input_variables }))
    await settled(r, 'delivered')
    t.equal(hook.received.length, 3)
    const secret = new Webhook((await userSecrets(r.pool, r.keys, '1')).secret)
    for (const [index, { headers, body }] of hook.received.entries()) {
      t.equal(headers['webhook-id'], deliveryId('c-1'))
      t.equal(headers['webhook-attempt'], String(index + 1))
      t.match(headers, { 'content-type': 'application/json', 'user-agent': /^Ringledger\// })
      t.notOk('traceparent' in headers)
      t.equal(body.toString(), (await r.deliveries())[0]?.body, 'the stored body, byte for byte')
      t.match(secret.verify(body, stringsOf(headers)), { type: 'call.completed', data: { call_id: 'c-1' } })
    }
    t.same((await r.attempts()).map(({ n, outcome, status_code, trigger }) => [n, outcome, status_code, trigger]), [
      [1, 'rejected', 500, 'schedule'], [2, 'rejected', 500, 'schedule'], [3, 'delivered', 204, 'schedule']
    ])
    t.match((await r.deliveries())[0], { status: 'delivered', attempt_count: 3, failures: 2, due_at: null })
  },

  async 'an attempt stands in the ledger before its request leaves' (t, redis) {
    const r = await deliveryRig(t, { redis, waits: [0] }, await begin())
    const seen: unknown[] = []
    const hook = await receiver(t, (response, ...rest) => {
      void r.rows('webhook_due').then((rows) => {
        seen.push(...rows.map(({ started_at, delivery_id, n }) => [delivery_id, n, started_at instanceof Date]))
        answers(200)(response, ...rest)
      })
    })
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    await settled(r, 'delivered')
    t.same(seen, [[deliveryId('c-1'), 1, true]])
  },

  async 'a fault of our own is not counted against the receiver' (t, redis) {
    const r = await deliveryRig(t, { redis, waits: [0] }, await begin())
    const hook = await receiver(t)
    const { key_id, sealed } = seal({ current: randomBytes(32), previous: [] }, '1', 'whsec_AAAA')
    await r.pool.query(`
      INSERT INTO ledger.webhook_secrets (user_id, key_id, sealed)
      VALUES ('1', $1, decode($2, 'base64'))`, [key_id, sealed])
    await r.tell(assistantTo(hook.url), callCompleted('c-1'))
    await eventually(async () => (await r.attempts())[0]?.outcome === 'unknown')
    t.match((await r.deliveries())[0], { status: 'scheduled', failures: 0 })
    t.equal(hook.connections(), 0)
  }
})
