// Many attempts in one statement: each is as safe as by itself.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { closeUnknown } from '../../../workers/deliveries/attempts/abandoned.js'
import { finishAttempt, finishAttempts } from '../../../workers/deliveries/attempts/finish.js'
import { startAttempt, startAttempts } from '../../../workers/deliveries/attempts/start.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { url, queued, startOf, delivered, failed } from './queued-attempts.js'

t.test('each of a statement starts by its own job, and gets its own body and token', async (t) => {
  const { pool, deliveries, attempts } = await queued(t, 5)
  const starts = [startOf(0), startOf(1, { jobNumber: 2 }), startOf(2, { n: 2 }), startOf(3), startOf(9)]
  const [first, staleJob, staleNumber, other, unknown] = starts
  const started = await startAttempts(pool, starts)
  const notStarted = [staleJob, staleNumber, unknown].map((start) => start && started.get(start))
  t.same(notStarted, [{}, {}, undefined], 'a stale job starts nothing')
  for (const start of [first, other]) {
    const attempt = start && started.get(start)?.attempt
    t.match(attempt, { deliveryId: start?.job.deliveryId, token: start?.token, n: 1, trigger: 'schedule', url })
    t.match(attempt, { health: 'fine', failures: 0 })
    t.equal(attempt?.body.toString(), (await deliveries()).find(({ id }) => id === start?.job.deliveryId)?.body)
  }
  t.same(new Set((await attempts()).map(({ worker_token }) => worker_token)), new Set([first?.token, other?.token]))
  t.same((await startAttempts(pool, starts)).get(starts[0] ?? startOf(0)), {}, 'none starts twice')
})

t.test('of two that want the same attempt at the same time one gets it', async (t) => {
  const { pool, attempts } = await queued(t, 1)
  const [first, second] = [startOf(0), startOf(0)]
  const started = await startAttempts(pool, [first, second])
  t.equal(started.size, 1, 'the other must try again, alone')
  t.equal(await startAttempt(pool, { ...first, token: randomUUID() }), undefined)
  t.equal((await attempts()).length, 1)
})

t.test('each outcome is written to its own attempt and delivery, once', async (t) => {
  const { pool, deliveries, attempts } = await queued(t, 3)
  const starts = [startOf(0), startOf(1), startOf(2)]
  await startAttempts(pool, starts)
  const [won, lost, open] = starts.map((start, index) => index === 0 ? delivered(start) : failed(start))
  if (!won || !lost || !open) throw new Error('there are three')
  const stranger = { ...open, attempt: { ...open.attempt, token: randomUUID() } }
  const counted = await finishAttempts(pool, [won, lost, stranger])
  t.same(
    [won, lost, stranger].map((each) => counted.get(each)), [true, true, false], 'only with the token that started it'
  )
  t.match((await deliveries()).sort((a, b) => Number(a.position) - Number(b.position)), [
    { status: 'delivered', failure_count: 0, queued_at: null, started_at: null, next_attempt_at: null },
    { status: 'scheduled', failure_count: 1, queued_at: null, started_at: null },
    { status: 'scheduled', failure_count: 0, queued_at: Date, started_at: Date }
  ])
  const byId = new Map((await attempts()).map((row) => [row.delivery_id, row]))
  t.match(byId.get(won.attempt.deliveryId), {
    outcome: 'delivered', status_code: 204, duration_ms: 7, response_excerpt: '"{,}\\', response_truncated: false
  })
  t.match(byId.get(lost.attempt.deliveryId), {
    outcome: 'rejected', status_code: 500, duration_ms: 8, response_excerpt: null, response_truncated: true
  })
  t.match(byId.get(open.attempt.deliveryId), { outcome: null, finished_at: null })
  t.same([...(await finishAttempts(pool, [won, lost])).values()], [false, false], 'and only once')
})

t.test('two outcomes of one delivery are never in one statement', async (t) => {
  const { pool, enqueuer, reconcile, deliveries, attempts } = await queued(t, 1)
  const frozen = startOf(0)
  await startAttempts(pool, [frozen])
  await pool.query("UPDATE ledger.webhook_deliveries SET started_at = started_at - interval '1 hour'")
  await eventually(async () => (await reconcile()).unknown === 1)
  await enqueuer.enqueue(['1'])
  const next = startOf(0, { n: 2, jobNumber: 2 })
  await startAttempts(pool, [next])
  const [late, running] = [delivered(frozen), failed(next)]
  const counted = await finishAttempts(pool, [late, running])
  t.same([counted.get(late), counted.get(running)], [undefined, true])
  t.equal(await finishAttempt(pool, late.attempt, late.finish, late.verdict), true, 'a late success counts, alone')
  t.match(await deliveries(), [{ status: 'delivered', failure_count: 1, started_at: null, queued_at: null }])
  t.same((await attempts()).map(({ outcome }) => outcome), ['delivered', 'rejected'])
})

t.test('when the write of a batch fails, its attempts are written one by one: one error, one attempt', async (t) => {
  const hook = await receiver(t)
  const r = await queued(t, 10, hook.url)
  const spoilt = deliveryId('call-1-3')
  await r.pool.query(`
    CREATE FUNCTION refuse () RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'this one not'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON ledger.webhook_deliveries FOR EACH ROW
    WHEN (NEW.id = '${spoilt}') EXECUTE FUNCTION refuse()`)
  const made = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => r.deliver(startOf(n).job)))
  t.same(made.flatMap((each, n) => each.status === 'rejected' ? [n] : []), [3])
  t.equal(hook.received.length, 9, 'nothing is sent that is not recorded as started')
  const left = (await r.deliveries()).filter(({ status }) => status !== 'delivered')
  t.same(left.map(({ id, started_at }) => [id, started_at]), [[spoilt, null]])
  t.ok(r.log.lines.some(({ message }) => message.startsWith('a batch of attempts could not be written')))
})

t.test('a stop while attempts are being started hands all of them over', async (t) => {
  const hook = await receiver(t, () => {})
  const r = await queued(t, 10, hook.url)
  const running = Array.from({ length: 10 }, (_, n) => r.deliver(startOf(n).job))
  r.hurry.abort(new Error('stop'))
  await Promise.all(running)
  t.same(
    (await r.deliveries()).map(({ status, started_at, failure_count }) => [status, started_at, failure_count]),
    Array(10).fill(['scheduled', null, 0])
  )
  t.same((await r.attempts()).map(({ outcome }) => outcome), Array(10).fill('unknown'))
})

t.test('a statement that Postgres gets to late closes no attempt: its worker may have waited as long', async (t) => {
  const { pool, attempts } = await queued(t, 1)
  await startAttempts(pool, [startOf(0)])
  const { rows: [clock] } = await pool.query<{ early: Date, now: Date }>(`
    SELECT clock_timestamp() - interval '6 s' AS early, clock_timestamp() + interval '1 s' AS now`)
  t.match(await closeUnknown(pool, -60_000, clock?.early ?? new Date()), { attempts: 0 })
  t.match(await attempts(), [{ outcome: null }])
  t.match(await closeUnknown(pool, 0, clock?.now ?? new Date()), { attempts: 1 })
  t.match(await attempts(), [{ outcome: 'unknown' }])
})
