// The last day of a user by the hour.
import t from 'tap'
import { countCalls } from '../../projections/calls.js'
import { countDeliveries } from '../../workers/deliveries/read.js'
import { eventually } from '../support/eventually.js'
import { readScene } from '../support/scenes/scenes.js'

const { service: { parts: { pool } }, get, create, complete, hook } = await readScene(t)
const hourMs = 3_600_000
const ago = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString()
const started_at = ago(48)

t.test('calls count in the hour that they ended in, webhooks by where they stand, each for its user alone', async (t) => {
  const webhook = { is_webhook_active: true, webhook_url: hook.url, send_webhook_only_on_completed: false }
  const [on, off, others] = [await create(webhook), await create(), await create({}, '2')]
  const calls = [
    { assistant_id: on, ended_at: ago(0) }, { assistant_id: on, ended_at: ago(23), status: 'no-answer' },
    { assistant_id: on, ended_at: ago(3), status: 'no-answer' }, { assistant_id: off, ended_at: ago(3), status: 'no-answer' },
    { assistant_id: off, ended_at: ago(25) }, { assistant_id: others, ended_at: ago(3) }
  ]
  for (const [index, call] of calls.entries()) await complete(`day-${index}`, { started_at, ...call })
  const { data } = await eventually(async () => {
    const { body } = await get('/user/day')
    return body.data.deliveries.hours.at(-1).counts.delivered === 3 && body
  })
  t.equal(data.calls.hours.length, 24)
  const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs).toISOString()
  t.same(data.calls.hours.at(-1), { hour, counts: { completed: 1 } })
  t.same(data.calls.hours.at(-4).counts, { 'no-answer': 2 })
  t.same(data.calls.hours[0].counts, { 'no-answer': 1 })
  t.same(data.deliveries.hours.at(-1).counts, { delivered: 3, skipped: 2 })
  t.ok(data.calls.is_exact && data.deliveries.is_exact)
})

t.test('what waits for a webhook that is off counts as held', async (t) => {
  await pool.query(`
    UPDATE ledger.webhook_deliveries SET status = 'scheduled' WHERE call_id = 'day-0';
    UPDATE ledger.webhooks SET off_since = now()`)
  t.same((await get('/user/day')).body.data.deliveries.hours.at(-1).counts, { delivered: 2, held: 1, skipped: 2 })
})

t.test('of more than are counted those are counted that came last', async (t) => {
  const day = [new Date(ago(24)), new Date(ago(-1))] as const
  t.same((await countCalls(pool, '1', ...day, 1)).map(({ count }) => count), [1, 1])
  t.equal((await countDeliveries(pool, '1', ...day, 2)).reduce((sum, { count }) => sum + count, 0), 3)
})
