// Attempts of a call whose person is erased while they run: what the receiver says is not kept, and no other follows.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { inTransaction } from '../../../../src/postgres/transaction.js'
import { startOnDemandAttempt } from '../../../../workers/deliveries/attempts/on-demand.js'
import { eraseDeliveries } from '../../../../workers/deliveries/erase.js'
import { redeliver } from '../../../../workers/operate/redeliver.js'
import { eventually } from '../../../support/eventually.js'
import { attemptsOf, failedOnce, id } from '../../../support/workers/delivery-rig.js'

type Rig = Awaited<ReturnType<typeof failedOnce>>['r']
const job = { deliveryId: id, trigger: 'manual' as const, n: 1, jobNumber: 1 }

async function erase (r: Rig): Promise<void> {
  const { rows } = await r.pool.query<{ call_id: string }>('SELECT call_id FROM ledger.webhook_deliveries WHERE id = $1', [id])
  await inTransaction(r.pool, (tx) => eraseDeliveries(tx, rows.map(({ call_id }) => call_id)))
}

async function redelivered (r: Rig): Promise<void> {
  await r.queue.stopWork(1_000, () => {})
  await redeliver(r.pool, id, '1')
  await r.enqueuer.enqueue(['1'])
}

t.test('a receiver that answers later is not quoted', async (t) => {
  const { r, hook } = await failedOnce(t)
  await redelivered(r)
  let answer = () => {}
  hook.answer = (response) => { answer = () => response.writeHead(500).end('Ada Hidden is known to us') }
  const running = r.deliver(job)
  await eventually(() => hook.received.length === 2)
  await erase(r)
  answer()
  await running
  const { rows } = await r.pool.query('SELECT response_excerpt FROM ledger.all_webhook_attempts')
  t.strictSame(rows, [{ response_excerpt: null }, { response_excerpt: null }])
})

t.test('an attempt that is handed over is not made once more', async (t) => {
  const { r, hook } = await failedOnce(t)
  await redelivered(r)
  hook.answer = () => {}
  const running = r.deliver(job)
  await eventually(() => hook.received.length === 2)
  await erase(r)
  r.hurry.abort(new Error('stop'))
  await running
  t.same(await attemptsOf(r), [['schedule', 1, 'rejected'], ['manual', 1, 'unknown']])
})

t.test('nor one whose worker ends', async (t) => {
  const { r } = await failedOnce(t, { timeoutMs: 100 })
  await redelivered(r)
  t.ok(await startOnDemandAttempt(r.pool, job, 'manual', randomUUID()))
  await erase(r)
  await eventually(async () => (await r.reconcile()).unknown === 1)
  t.same(await attemptsOf(r), [['schedule', 1, 'rejected'], ['manual', 1, 'unknown']])
})
