// Receivers that hang in all the room of a worker delay those of others by a time-out and no more.
import t, { type Test } from 'tap'
import { assistantTo, callCompleted } from '../../support/events/call-events.js'
import { deliveryRig, type Rig } from '../../support/workers/delivery-rig.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'

const roomOfWorker = 2_000
const [users, ofEach] = [45, 200]

t.test('users hang in all the room that a worker has, and another user\'s webhooks arrive as time-outs make some', async (t) => {
  const r = await deliveryRig(t, { timeoutMs: 15_000, waits: [0, 3_600_000] })
  const [hook, hanging] = [await receiver(t), await counting(t)]
  for (const nth of Array(users).keys()) await hangEverywhere(r, hanging.url, ofEach, `hangs ${nth}`)
  await r.tell(assistantTo(hook.url, 1, 'another'))
  await r.reconcile()
  await eventually(() => hanging.most() >= roomOfWorker, 30_000)
  await r.tell(...Array.from({ length: 20 }, (_, n) => callCompleted(`c-${n}`)))
  const ofAnother = "user_id = 'another' AND status = 'delivered'"
  await eventually(async () => (await r.rows('webhook_deliveries', ofAnother)).length === 20, 30_000)
  t.equal(hook.received.length, 20)
  t.comment(`${hanging.received.length} of ${users * ofEach} attempts to hanging webhooks had begun`)
  t.ok(hanging.received.length < users * ofEach, 'while others wait for room')
  t.ok(hanging.most() <= roomOfWorker, `${hanging.most()} at once`)
})

/** A receiver that hangs, and how many requests it had at a time. */
async function counting (t: Test) {
  const open = { now: 0, most: 0 }
  const hanging = await receiver(t, (response) => {
    open.now += 1
    open.most = Math.max(open.most, open.now)
    response.on('close', () => { open.now -= 1 })
  })
  return { ...hanging, most: () => open.most }
}

/** Due deliveries of the user, each of an assistant of its own. */
async function hangEverywhere ({ pool }: Rig, url: string, count: number, user = 'hangs'): Promise<void> {
  await pool.query(`
    WITH webhook AS (
      INSERT INTO ledger.webhooks (assistant_id, user_id, url)
      SELECT (SELECT coalesce(max(assistant_id), 1000) FROM ledger.webhooks) + n, $3, $1 FROM generate_series(1, $2::integer) n
      RETURNING assistant_id
    ), delivery AS (
      INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, body, status)
      SELECT gen_random_uuid(), 'hangs-' || assistant_id, 'call.completed', $3, assistant_id, '{}', 'scheduled' FROM webhook
      RETURNING id, assistant_id
    )
    INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at)
    SELECT id, 'schedule', assistant_id, $3, now() FROM delivery`, [url, count, user])
}
