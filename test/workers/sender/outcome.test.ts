// What becomes of a delivery and its webhook when attempts end.
import t from 'tap'
import { answer, senderRig } from '../../support/workers/sender-rig.js'

t.test('an attempt that succeeds ends its delivery', async (t) => {
  const r = await senderRig(t)
  const [id = ''] = await r.add()
  const { attempts } = await r.claim(r.worker)
  t.match(attempts, [{ deliveryId: id, n: 1, trigger: 'schedule', failures: 0, body: Buffer.from('{}') }])
  t.same((await r.claim(r.worker)).attempts, [])
  const recorded = await r.end(attempts, answer(200))
  t.equal(recorded.kept.length, 1)
  t.match(await r.delivery(id), { status: 'delivered', reason: null, attempt_count: 1, due_in: null })
  t.match(await r.rows('webhook_attempts'), [{ n: 1, outcome: 'delivered', status_code: 200, response_excerpt: 'hello' }])
  t.same(await r.rows('webhook_due'), [])
})
