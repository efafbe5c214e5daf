// The parts of delivery on a real database and a real queue, driven step by step; the dispatcher is told events by hand.
import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { deliverer } from '../../workers/deliver/deliver.js'
import type { Job } from '../../workers/deliveries/attempts.js'
import { dispatcher } from '../../workers/dispatch/dispatch.js'
import { openEnqueuer, type Enqueuer } from '../../workers/queue/enqueue.js'
import { openPoster } from '../../workers/deliver/post.js'
import { openQueue, type JobQueue } from '../../workers/queue/queue.js'
import { reconcile, type Reconciled } from '../../workers/queue/reconcile.js'
import { logOf, type Told } from './call-events.js'
import { keepingLog, scratchLedger, type ScratchLedger } from './ledger.js'
import type { ScratchRedis } from './redis.js'
import type { ScratchPostgres } from './scratch-postgres.js'
import type { Teardown } from './teardown.js'

export interface Rig extends ScratchLedger {
  queue: JobQueue
  enqueuer: Enqueuer
  log: ReturnType<typeof keepingLog>
  keys: { current: Buffer, previous: Buffer[] }
  /** What a worker of the queue does with a job. */
  deliver (job: Job): Promise<void>
  /** Aborts running attempts, as a stop that takes too long does. */
  hurry: AbortController
  /** Dispatches events; their users' due deliveries are queued when `enqueues`. */
  tell (...events: Told[]): Promise<void>
  tellStored (events: StoredEvent[]): Promise<void>
  reconcile (): Promise<Reconciled>
  /** Forgets everything that is queued, as an emptied Redis or a dropped schema does. */
  emptyQueue (): Promise<void>
  /** The ids of all jobs that the queue keeps, whatever became of them. */
  jobs (): Promise<string[]>
  deliveries (): Promise<Row[]>
  attempts (): Promise<Row[]>
}
export type Row = Record<string, unknown>

export interface RigOptions {
  schedule?: number[]
  timeoutMs?: number
  /** When an attempt without an outcome is closed as `unknown`, in milliseconds; twice `timeoutMs` when absent. */
  abandonedAfterMs?: number
  /** Ranges that may be reached; this machine when absent. */
  allowCidrs?: string[]
  /** How old a job must be to be looked for in the queue, in milliseconds. */
  everyMs?: number
  /** Starts the workers of the queue. */
  works?: boolean
  enqueues?: boolean
}

/** Where the rigs of a test file live: each has a database of its own, and its queue is emptied before. */
export interface BackEnds { postgres: ScratchPostgres, redis?: ScratchRedis }

export async function deliveryRig (t: Teardown, { postgres, redis }: BackEnds, { schedule = [0, 50, 50], timeoutMs = 2_000, allowCidrs = ['127.0.0.0/8'], everyMs = 0, works = true, enqueues = true, abandonedAfterMs = 2 * timeoutMs }: RigOptions = {}): Promise<Rig> {
  const ledger = await scratchLedger(t, postgres)
  const { pool, databaseUrl } = ledger
  await redis?.flush()
  const log = keepingLog()
  const queue = await openQueue({ redisUrl: redis?.url, databaseUrl, pool, log })
  const enqueuer = openEnqueuer({ pool, queue, maySend: () => true, log })
  const poster = openPoster({ allowCidrs })
  const keys = { current: randomBytes(32), previous: [] }
  const hurry = new AbortController()
  const deliver = deliverer({ pool, poster, enqueuer, keys, schedule, timeoutMs, rules: { allowHttp: true, allowCidrs }, version: '0.0.0', signal: hurry.signal, log })
  if (works) queue.work(deliver, 100)
  t.teardown(async () => {
    await queue.stopWork(1_000, () => hurry.abort(new Error('the test is over')))
    await enqueuer.stop()
    await queue.close()
    await poster.close()
  })
  const consumer = await dispatcher({ firstDelayMs: schedule[0] ?? 0, onDispatched: (users) => { if (enqueues) enqueuer.enqueueSoon(users) }, log }).open()
  const place = logOf()

  async function tellStored (events: StoredEvent[]) {
    const batch = { events, position: events.at(-1)?.position ?? 0n }
    await inTransaction(pool, (tx) => consumer.handle(tx, batch))
    consumer.committed?.(batch)
  }

  return {
    ...ledger,
    queue,
    enqueuer,
    log,
    keys,
    deliver,
    hurry,
    tell: (...events) => tellStored(place(events)),
    tellStored,
    reconcile: () => reconcile({ pool, queue, enqueuer, everyMs, abandonedAfterMs }),
    emptyQueue: () => redis ? redis.flush() : emptySchema(pool),
    jobs: () => redis ? jobsIn(redis) : jobsInSchema(pool),
    deliveries: async () => (await pool.query<Row>('SELECT * FROM ledger.webhook_deliveries ORDER BY position')).rows,
    attempts: async () => (await pool.query<Row>('SELECT * FROM ledger.webhook_attempts ORDER BY delivery_id, coalesce(started_at, due_at), n')).rows
  }
}

async function emptySchema (pool: Pool): Promise<void> {
  await pool.query('TRUNCATE queue.job CASCADE')
}

const jobsInSchema = async (pool: Pool) => (await pool.query<{ id: string }>('SELECT id FROM queue.job')).rows.map(({ id }) => id)

async function jobsIn (redis: ScratchRedis): Promise<string[]> {
  const keys = await redis.keys('bull:webhooks:????????-????-*')
  return keys.map((key) => key.slice('bull:webhooks:'.length)).filter((key) => !key.includes(':'))
}
