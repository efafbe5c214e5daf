// Delivery on a real database and a real queue, step by step; the dispatcher gets its events from the test.
import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { deliverer } from '../../../workers/deliver/deliver.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { openEnqueuer, type Enqueuer } from '../../../workers/queue/enqueue.js'
import { openPoster } from '../../../workers/deliver/post.js'
import { openQueue, type QueueOptions } from '../../../workers/queue/queue.js'
import { reconcile } from '../../../workers/queue/reconcile.js'
import { logOf, type Told, assistantTo, callCompleted } from '../events/call-events.js'
import { commitEvents } from '../events/appender.js'
import { keepingLog, scratchLedger, type ScratchLedger } from '../postgres/ledger.js'
import { eventually } from '../eventually.js'
import type { ScratchRedis } from '../back-ends/redis.js'
import type { Teardown } from '../teardown.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import type { Test } from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { requestTest } from '../../../workers/operate/redeliver.js'
import { answers, receiver, type Receiver } from '../receivers/receiver.js'

export type Row = Record<string, unknown>
export type Rig = Awaited<ReturnType<typeof deliveryRig>>

export interface RigOptions {
  /** Has the queue; it is in Postgres when absent. */
  redis?: ScratchRedis | undefined
  /** Where a proxy before the queue's server listens. */
  queuePort?: number
  schedule?: number[]
  timeoutMs?: number
  /** When an attempt without an outcome is closed as `unknown`, in milliseconds; twice `timeoutMs` when absent. */
  abandonedAfterMs?: number
  /** Ranges that may be reached; this machine when absent. */
  allowCidrs?: string[]
  /** The age from which a job is looked for in the queue, in milliseconds. */
  everyMs?: number
  patience?: QueueOptions['patience']
  /** Of the bodies of attempts in flight. */
  bodyBytes?: number
  works?: boolean // starts the workers of the queue
  enqueues?: boolean
}

/** On a database of its own; its queue is in Redis where that is given, and is emptied before. */
export async function deliveryRig (t: Teardown, options: RigOptions = {}) {
  const { redis, timeoutMs = 2_000, everyMs = 0, abandonedAfterMs = 2 * timeoutMs } = options
  const ledger = await scratchLedger(t)
  const { pool } = ledger
  await redis?.flush()
  const log = keepingLog()
  const delivery = await openDelivery(t, ledger, log, { ...options, timeoutMs })
  const { queue, enqueuer } = delivery
  const tellStored = await openDispatch(pool, enqueuer, log, options)
  const place = logOf()
  return {
    ...ledger,
    ...delivery,
    log,
    /** Dispatches events; their users' due deliveries are queued when `enqueues`. */
    async tell (...events: Told[]) {
      const stored = place(events)
      await tellStored(stored)
      return stored
    },
    tellStored,
    reconcile: () => reconcile({ pool, queue, enqueuer, everyMs, abandonedAfterMs }),
    /** Forgets everything that is queued, as an emptied Redis or a dropped schema does. */
    emptyQueue: () => redis ? redis.flush() : emptySchema(pool),
    /** The ids of all jobs in the queue: waiting, running, completed and failed. */
    jobs: () => redis ? jobsIn(redis) : jobsInSchema(pool),
    deliveries: async () => (await pool.query<Row>('SELECT * FROM ledger.webhook_deliveries ORDER BY position')).rows,
    attempts: async () => (await pool.query<Row>(`
      SELECT * FROM ledger.all_webhook_attempts ORDER BY delivery_id, coalesce(started_at, due_at), n`)).rows
  }
}

type Log = ReturnType<typeof keepingLog>

const defaultSchedule = [0, 50, 50]
const stopWithinMs = 1_000

/** The queue, and what makes the attempts of its jobs. */
async function openDelivery (
  t: Teardown, { pool, databaseUrl }: ScratchLedger, log: Log, options: RigOptions & { timeoutMs: number }
) {
  const { redis, schedule = defaultSchedule, timeoutMs, allowCidrs = ['127.0.0.0/8'], works = true } = options
  const { queuePort, patience, bodyBytes } = options
  const through = (url: string) => Object.assign(new URL(url), queuePort && { port: String(queuePort) }).href
  const queue = await openQueue({
    redisUrl: redis && through(redis.url), databaseUrl: through(databaseUrl), pool, log, patience
  })
  const enqueuer = openEnqueuer({ pool, queue, maySend: () => true, log })
  const poster = openPoster({ allowCidrs })
  const keys: { current: Buffer, previous: Buffer[] } = { current: randomBytes(32), previous: [] }
  const hurry = new AbortController() // aborts running attempts, as a stop that takes too long does
  const rules = { allowHttp: true, allowCidrs }
  const sending = { pool, poster, enqueuer, keys, schedule, timeoutMs, rules, signal: hurry.signal, log }
  const deliver = deliverer({ ...sending, bodyBytes, version: '0.0.0' })
  if (works) queue.work(deliver, 100)
  t.teardown(async () => {
    await queue.stopWork(stopWithinMs, () => hurry.abort(new Error('the test is over')))
    await enqueuer.stop()
    await queue.close()
    await poster.close()
  })
  return { queue, enqueuer, keys, deliver, hurry }
}

/** The dispatcher, which gets events from the test. */
async function openDispatch (
  pool: Pool, enqueuer: Enqueuer, log: Log, { schedule = defaultSchedule, enqueues = true }: RigOptions
) {
  const onDispatched = (users: Iterable<string>) => { if (enqueues) enqueuer.enqueueSoon(users) }
  const giveSlots = enqueues ? enqueuer : undefined
  const consumer = await dispatcher({ pool, firstDelayMs: schedule[0] ?? 0, onDispatched, giveSlots, log }).open()
  return (events: StoredEvent[]) => commitEvents(consumer, events, pool)
}

/** Resolves when every delivery has this status and none is being attempted. */
export const settled = (r: Rig, status: string): Promise<unknown> =>
  eventually(async () => (await r.deliveries()).every((row) => row.status === status && row.started_at === null))

export const statuses = (rows: Row[]) => rows.map(({ status, reason }) => [status, reason])

async function emptySchema (pool: Pool): Promise<void> {
  await pool.query('TRUNCATE queue.job CASCADE')
}

const jobsInSchema = async (pool: Pool) =>
  (await pool.query<{ id: string }>('SELECT id FROM queue.job')).rows.map(({ id }) => id)

async function jobsIn (redis: ScratchRedis): Promise<string[]> {
  const keys = await redis.keys('bull:webhooks-*:????????-????-*')
  return keys.map((key) => key.split(':').slice(2).join(':')).filter((key) => !key.includes(':'))
}

/** Its second attempt is due after an hour. */
export const idleRig = (t: Teardown): Promise<Rig> =>
  deliveryRig(t, { works: false, enqueues: false, schedule: [0, 3_600_000] })

/** Call, status and reason of each delivery. */
export const stands = async (r: Rig): Promise<unknown[][]> =>
  (await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason])

/** Makes attempt `n` of a call's delivery now, whenever it is due. */
export async function attempt (r: Rig, call: string, n = 1): Promise<void> {
  await r.pool.query(`
    UPDATE ledger.webhook_deliveries SET next_attempt_at = now()
    WHERE call_id = $1 AND status = 'scheduled'`, [call])
  await r.enqueuer.enqueue(['1'])
  const { rows: [{ job_number: jobNumber }] } = await r.pool.query(`
    SELECT job_number FROM ledger.webhook_deliveries WHERE call_id = $1`, [call])
  await r.deliver({ deliveryId: deliveryId(call), n, jobNumber })
}

export const id = deliveryId('c-1')

export const sendTest = ({ pool }: Rig, { url }: Receiver, id = 1) =>
  inTransaction(pool, (tx) => requestTest(tx, { userId: '1', assistant: { id, name: 'Front desk' }, url }))

export const attemptsOf = async (r: Rig) => (await r.attempts()).map(({ trigger, n, outcome }) => [trigger, n, outcome])

export const row = async (r: Rig, delivery = id) => (await r.deliveries()).find((each) => each.id === delivery) ?? {}

export const ended = (r: Rig, count: number) =>
  eventually(async () => (await r.attempts()).filter(({ outcome }) => outcome !== null).length === count)

/** A rig with one delivery that was tried once, and failed. */
export async function failedOnce (t: Test, options: RigOptions = {}) {
  const r = await deliveryRig(t, { schedule: [0, 3_600_000], ...options })
  const hook = await receiver(t, answers(500))
  await r.tell(assistantTo(hook.url), callCompleted('c-1'))
  await ended(r, 1)
  return { r, hook }
}
