// Durable work: each request ends once.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { randomUUID } from 'node:crypto'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { counting, workRig } from '../../support/workers/work-rig.js'
import { acceptRequest, dropPrepared, prepareRequest } from '../../../workers/work/requests.js'
import { tidying } from '../../../workers/work/run.js'

const ledger = await scratchLedger(t)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

t.test('a request is worked on in turns until its end, and what was asked is forgotten', async (t) => {
  const r = await workRig(t, ledger)
  r.start({ turnMs: 0 })
  const id = await r.ask(10)
  await r.ended(id)
  t.match(await r.status(id), { state: 'completed', progress: { counted: 10 }, reason: null })
  t.same(await r.steps(id), upTo(10))
  const { rows: [row] } = await r.pool.query('SELECT input, turn FROM ledger.work')
  t.match(row, { input: {} })
  t.ok(Number(row?.turn) >= 10, 'a turn each')
  t.equal((await r.pool.query('SELECT FROM counted WHERE NOT ended')).rowCount, 0, 'it was finished')
  t.equal(await r.status(id, '2'), undefined, 'it is not there for others')
})

t.test('users take turns, and the requests of one user follow each other', async (t) => {
  const r = await workRig(t, ledger)
  const first = [await r.ask(20), await r.ask(20)]
  const other = await r.ask(5, '2')
  r.start({ turnMs: 0, concurrency: 1 })
  await Promise.all([...first.map((id) => r.ended(id)), r.ended(other, '2')])
  const { rows } = await r.pool.query<{ request: string }>('SELECT request FROM counted ORDER BY n')
  const order = rows.map(({ request }) => request)
  t.ok(order.lastIndexOf(other) < order.lastIndexOf(first[0] ?? ''), 'the short one of another user does not wait')
  t.ok(order.lastIndexOf(first[0] ?? '') < order.indexOf(first[1] ?? ''))
})

t.test('the next of a user goes on while one waits for others, and one fails', async (t) => {
  const r = await workRig(t, ledger)
  const [waits, fails, next] = [await r.ask(1), await r.ask(1), await r.ask(2)]
  const kind = counting(r.pool, { worker: 'test' })
  const work: typeof kind.work = async (request, turn) => {
    if (request.id === fails) throw new Error('a mistake')
    if (request.id !== waits) return await kind.work(request, turn)
    await turn.keep(Object.assign({ counted: 0 }, { waits_for: 'somebody' }))
    return { state: 'waiting', inMs: 60_000 }
  }
  r.start({ kinds: { counting: { ...kind, work } }, retryMs: 60_000 })
  await r.ended(next)
  for (const id of [waits, fails]) t.match(await r.status(id), { state: 'accepted' })
})

t.test('the log settles a request that was prepared and never accepted', async (t) => {
  const r = await workRig(t, ledger)
  const [logged, orphan] = [await r.ask(2), await r.ask(2, '2')]
  await r.pool.query("UPDATE ledger.work SET state = 'prepared'")
  r.start({ orphanedAfterMs: 0, accepted: new Set([logged]) })
  await r.ended(logged)
  await eventually(async () => (await r.pool.query('SELECT FROM ledger.work')).rowCount === 1)
  t.same(await r.steps(orphan), [])
})

t.test('a request that fails again and again is given up, and one that an outage stops is not', async (t) => {
  const r = await workRig(t, ledger)
  let outages = 15
  const onStep = (step: number) => {
    if (step === 2 && outages-- > 0) throw new Error('connect ECONNREFUSED')
    if (step === 4) throw new Error('a mistake')
  }
  r.start({ onStep, retryMs: 1 })
  const id = await r.ask(10)
  await r.ended(id)
  t.match(await r.status(id), { state: 'failed', reason: 'It could not be finished.', progress: { counted: 3 } })
})

t.test('finished requests are removed when their days are over, however many there are', async (t) => {
  const { pool, ask } = await workRig(t, ledger)
  const hours: Record<string, number> = { [await ask(1)]: 26, [await ask(1)]: 25, [await ask(1)]: 23 }
  for (const [id, since] of Object.entries(hours)) {
    await pool.query("UPDATE ledger.work SET state = 'completed', finished_at = now() - $2 * interval '1 hour' WHERE id = $1", [id, since])
  }
  const kinds = { counting: { ...counting(pool, { worker: 'test' }), keepDays: 1 } }
  await tidying({ pool, kinds }).run(new AbortController().signal)
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM ledger.work')
  t.strictSame(rows.map(({ id }) => hours[id]), [23])
})

t.test('a request that was only prepared counts for a minute, and a retry of it is not dropped', async (t) => {
  const { pool, status } = await workRig(t, ledger)
  const [first, second] = [randomUUID(), randomUUID()]
  const prepare = (id: string) => prepareRequest(pool, { id, kind: 'counting', userId: '1', input: {} }, 1)
  const passTime = () => pool.query("UPDATE ledger.work SET created_at = created_at - interval '2 minutes'")
  t.equal(await prepare(first), true)
  t.equal(await prepare(second), false)
  await passTime()
  t.equal(await prepare(second), true, 'the event store was away when the first one was asked for')
  await passTime()
  t.equal(await prepare(first), true)
  for (const id of [first, second]) await dropPrepared(pool, id, 60_000)
  for (const id of [first, second]) await acceptRequest(pool, id)
  t.match([await status(first), await status(second)], [{ state: 'accepted' }, undefined])
})
