// Many attempts in one statement: each is as safe as by itself.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { endpointIds } from '../../../workers/deliveries/endpoints.js'
import { finishAttempt, finishAttempts, type Finished } from '../../../workers/deliveries/finish-attempts.js'
import { startAttempt, startAttempts, type Start } from '../../../workers/deliveries/start-attempts.js'
import { assistantCreated, callCompleted } from '../../support/call-events.js'
import { deliveryRig, type Rig } from '../../support/delivery-rig.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receiver.js'
import { scratchPostgres } from '../../support/scratch-postgres.js'

const postgres = await scratchPostgres(t)
const url = 'http://127.0.0.1:1/hook'

/** Deliveries of calls 0, 1, ... that have their slots and wait for a worker. */
async function queued (t: Parameters<typeof deliveryRig>[0], count: number, to = url): Promise<Rig> {
  const rig = await deliveryRig(t, { postgres }, { works: false, enqueues: false })
  await rig.tell(assistantCreated(1, { is_webhook_active: true, webhook_url: to }), ...Array.from({ length: count }, (_, n) => callCompleted(`c-${n}`)))
  await rig.enqueuer.enqueue(['1'])
  return rig
}

const startOf = (call: number, given: { n?: number, jobNumber?: number } = {}): Start => ({ job: { deliveryId: deliveryId(`c-${call}`), n: 1, jobNumber: 1, ...given }, token: randomUUID() })

const delivered = ({ job, token }: Start): Finished => ({
  attempt: { ...job, token },
  finish: { outcome: 'delivered', statusCode: 204, durationMs: 7, error: null, excerpt: '"{,}\\', truncated: false },
  verdict: { status: 'delivered' }
})

const failed = (start: Start): Finished => ({
  ...delivered(start),
  finish: { outcome: 'rejected', statusCode: 500, durationMs: 8, error: null, excerpt: null, truncated: true },
  verdict: { status: 'retry', inMs: 5_000 }
})

t.test('each of a statement starts by its own job, and gets its own body and token', async (t) => {
  const { pool, deliveries, attempts } = await queued(t, 5)
  const starts = [startOf(0), startOf(1, { jobNumber: 2 }), startOf(2, { n: 2 }), startOf(3), startOf(9)]
  const [first, staleJob, staleNumber, other, unknown] = starts
  const started = await startAttempts(pool, starts)
  t.same([staleJob, staleNumber, unknown].map((start) => start && started.get(start)), [{}, {}, undefined], 'stale ones start nothing')
  for (const start of [first, other]) {
    const attempt = start && started.get(start)?.attempt
    t.match(attempt, { deliveryId: start?.job.deliveryId, token: start?.token, n: 1, trigger: 'schedule', url, health: 'fine', failures: 0 })
    t.equal(attempt?.body, (await deliveries()).find(({ id }) => id === start?.job.deliveryId)?.body)
  }
  t.same(new Set((await attempts()).map(({ worker_token }) => worker_token)), new Set([first?.token, other?.token]))
  t.same((await startAttempts(pool, starts)).get(starts[0] ?? startOf(0)), {}, 'nobody starts it twice')
})

t.test('of two that want the same attempt at the same time one gets it', async (t) => {
  const { pool, attempts } = await queued(t, 1)
  const [first, second] = [startOf(0), startOf(0)]
  const started = await startAttempts(pool, [first, second])
  t.equal(started.size, 1, 'the other has to ask again, alone')
  t.equal(await startAttempt(pool, first.job, randomUUID()), undefined)
  t.equal((await attempts()).length, 1)
})

t.test('each outcome is written to its own attempt and delivery, once', async (t) => {
  const { pool, deliveries, attempts } = await queued(t, 3)
  const starts = [startOf(0), startOf(1), startOf(2)]
  await startAttempts(pool, starts)
  const [won, lost, open] = starts.map((start, index) => index === 0 ? delivered(start) : failed(start))
  if (!won || !lost || !open) throw new Error('there are three')
  const stranger = { ...open, attempt: { ...open.attempt, token: randomUUID() } }
  t.same([...(await finishAttempts(pool, [won, lost, stranger])).values()], [true, true, false], 'only by whoever started it')
  t.match((await deliveries()).sort((a, b) => Number(a.position) - Number(b.position)), [
    { status: 'delivered', failure_count: 0, queued_at: null, started_at: null, next_attempt_at: null },
    { status: 'scheduled', failure_count: 1, queued_at: null, started_at: null },
    { status: 'scheduled', failure_count: 0, queued_at: Date, started_at: Date }
  ])
  const byId = new Map((await attempts()).map((row) => [row.delivery_id, row]))
  t.match(byId.get(won.attempt.deliveryId), { outcome: 'delivered', status_code: 204, duration_ms: 7, response_excerpt: '"{,}\\', response_truncated: false })
  t.match(byId.get(lost.attempt.deliveryId), { outcome: 'rejected', status_code: 500, duration_ms: 8, response_excerpt: null, response_truncated: true })
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

t.test('a row that somebody holds keeps only its own attempt waiting', async (t) => {
  const { pool } = await queued(t, 3)
  const starts = [startOf(0), startOf(1), startOf(2)]
  const [held, free] = [starts[0] ?? startOf(0), starts[1] ?? startOf(1)]
  const release = await hold(pool, held)
  const started = await startAttempts(pool, starts)
  t.same(starts.map((start) => started.has(start)), [false, true, true])
  const counted = await finishAttempts(pool, [delivered(held), delivered(free)])
  t.same([...counted.values()], [true])
  const waiting = startAttempt(pool, held.job, held.token)
  await isWaiting(pool)
  await release()
  t.match(await waiting, { token: held.token, url }, 'it starts when the row is free')
})

t.test('an attempt that waited for its row goes where whoever held the row sends it', async (t) => {
  const { pool } = await queued(t, 1)
  const start = startOf(0)
  const release = await hold(pool, start, async (tx) => {
    const [endpoint] = await endpointIds(tx, [{ user_id: '1', url: `${url}/new` }])
    await tx.query('UPDATE ledger.webhook_deliveries SET endpoint_id = $1', [endpoint])
  })
  const waiting = startAttempt(pool, start.job, start.token)
  await isWaiting(pool)
  await release()
  t.match(await waiting, { url: `${url}/new` })
})

t.test('attempts whose shared write fails are written one by one: the error of one stays with it', async (t) => {
  const hook = await receiver(t)
  const r = await queued(t, 10, hook.url)
  const spoilt = deliveryId('c-3')
  await r.pool.query(`
    CREATE FUNCTION refuse () RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'this one not'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON ledger.webhook_attempts FOR EACH ROW WHEN (NEW.delivery_id = '${spoilt}') EXECUTE FUNCTION refuse()`)
  const made = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => r.deliver(startOf(n).job)))
  t.same(made.flatMap((each, n) => each.status === 'rejected' ? [n] : []), [3])
  t.equal(hook.received.length, 9, 'nothing is sent that is not recorded as started')
  t.same((await r.deliveries()).filter(({ status }) => status !== 'delivered').map(({ id, started_at }) => [id, started_at]), [[spoilt, null]])
  t.ok(r.log.lines.some(({ message }) => message.startsWith('a batch of attempts could not be written')))
})

t.test('a stop while attempts are being started hands all of them over', async (t) => {
  const hook = await receiver(t, () => {})
  const r = await queued(t, 10, hook.url)
  const running = Array.from({ length: 10 }, (_, n) => r.deliver(startOf(n).job))
  r.hurry.abort(new Error('stop'))
  await Promise.all(running)
  t.same((await r.deliveries()).map(({ status, started_at, failure_count }) => [status, started_at, failure_count]), Array(10).fill(['scheduled', null, 0]))
  t.same((await r.attempts()).map(({ outcome }) => outcome), Array(10).fill('unknown'))
})

t.test('rows are found by primary key, also by a statement that was prepared when the tables were empty', async (t) => {
  const { pool } = await deliveryRig(t, { postgres }, { works: false, enqueues: false })
  const session = await pool.connect()
  t.teardown(() => session.release())
  const starts = Array.from({ length: 12 }, (_, n) => startOf(n))
  for (let n = 0; n < 8; n++) {
    await startAttempts(session, starts)
    await finishAttempts(session, starts.map(delivered))
  }
  for (const [name, columns] of [['start-attempts', 4], ['finish-attempts', 12]] as const) {
    const { rows: [row] } = await session.query<{ 'QUERY PLAN': object }>(`EXPLAIN (FORMAT JSON) EXECUTE "${name}"(${Array(columns).fill("'{}'").join(', ')})`)
    const plan = JSON.stringify(row?.['QUERY PLAN'])
    t.notMatch(plan, '"Seq Scan"')
    if (name === 'finish-attempts') t.match(plan, /"Index Cond":"[^"]*delivery_id = ANY/, 'and not by its trigger alone')
    t.same(new Set(plan.match(/(?<="Index Name":")webhook_(deliveries|attempts)\w*/g)), new Set(name === 'start-attempts' ? ['webhook_deliveries_pkey'] : ['webhook_deliveries_pkey', 'webhook_attempts_pkey']))
  }
})

/** Holds the row of a delivery as a transaction does that changes it. @returns what lets go of it */
async function hold (pool: Pool, { job }: Start, work: (tx: PoolClient) => Promise<void> = async () => {}): Promise<() => Promise<void>> {
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query('UPDATE ledger.webhook_deliveries SET duplicates = duplicates WHERE id = $1', [job.deliveryId])
  await work(holder)
  return async () => {
    await holder.query('COMMIT')
    holder.release()
  }
}

const isWaiting = (pool: Pool) => eventually(async () => {
  const { rowCount } = await pool.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
  return rowCount === 1
})
