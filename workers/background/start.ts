// Works on requests in the background: queue, reconciler, and turns, each leased and numbered.
import { type Pool, DatabaseError } from 'pg'
import { endsWithin } from '../../src/timing.js'
import type { Notifications } from '../../src/postgres/notifications.js'
import { runPeriodic } from '../periodic.js'
import { openQueueOf, type QueueOptions } from '../queue/queue.js'
import { listenForRequests, notifyRequests } from './requests.js'
import { enqueueRequests, requestJobs, type RequestQueue, reconcileRequests, leaseOf } from './jobs.js'
import type { BackgroundKinds, BackgroundKind, BackgroundRequest, Ended, Turn } from './kind.js'
import { isOfOutage } from '../../src/log/errors.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { LeaseHeld, LeaseLost, withLease } from '../../src/subscriptions/lease.js'

export interface BackgroundOptions extends Omit<QueueOptions, 'log' | 'pool'>, Pick<TurnOptions, 'log' | 'holder'> {
  /** For transactions that a frozen process cannot hold. */
  pool: Pool
  kinds: BackgroundKinds
  notifications: Notifications
  /** Nothing is worked on while this says no: the database is behind the log. */
  mayWork: () => boolean
  /** Requests that this process works on side by side. */
  concurrency?: number
  /** How long a turn lasts, in milliseconds. */
  turnMs?: number
  /** Between two passes of the reconciler, in milliseconds. */
  reconcileEveryMs?: number
  retryMs?: number
  orphanedAfterMs?: number
}

export interface Background {
  /** Begins no step; what is under way ends, or is done again by others. */
  stop (): Promise<void>
}

/** More would only share the same two cores; the others wait for their turn. */
const requestsAtOnce = 2
const usualTurnMs = 2_000
const usualReconcileMs = 10_000
const usualRetryMs = 5_000
const usualOrphanMs = 15 * 60_000
/** A step of a kind takes seconds; one that is cut off is repeated. */
const graceMs = 10_000
const passWithinMs = 11_000

export async function startBackground (options: BackgroundOptions): Promise<Background> {
  const { pool, kinds, holder, log, mayWork, reconcileEveryMs: everyMs = usualReconcileMs } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const queue = await openQueueOf(requestJobs, options)
  const { turnMs = usualTurnMs, retryMs = usualRetryMs, orphanedAfterMs = usualOrphanMs } = options
  const turns = { pool, kinds, holder, turnMs, retryMs, signal, log }
  queue.work(async ({ id }) => { if (mayWork()) await giveTurn(turns, id) }, options.concurrency ?? requestsAtOnce)
  const soon = enqueueSoon(queue, options, signal)
  const listener = listenForRequests(options.notifications, soon)
  const run = async () => {
    if (mayWork()) await reconcileRequests({ pool, queue, kinds, lostAfterMs: everyMs, orphanedAfterMs })
  }
  const passing = runPeriodic([{ name: 'background', everyMs, run }], { pool, name: 'background', holder, signal, log })
  return {
    async stop () {
      stopping.abort()
      listener.close()
      await Promise.all([queue.stopWork(graceMs, () => {}), endsWithin(passWithinMs, passing)])
      await queue.close()
    }
  }
}

/** Many calls become one or two. What fails is left to the reconciler. */
function enqueueSoon (
  queue: RequestQueue, { pool, mayWork, log }: BackgroundOptions, signal: AbortSignal
): () => void {
  let isAsked = false
  let isRunning = false
  return () => {
    isAsked = true
    if (!isRunning) void run()
  }

  async function run (): Promise<void> {
    isRunning = true
    while (isAsked && !signal.aborted && mayWork()) {
      isAsked = false
      await enqueueRequests(pool, queue).catch((err: unknown) =>
        log.warn({ err }, 'requests in the background could not be queued; the reconciler will'))
    }
    isRunning = false
  }
}

export interface TurnOptions {
  pool: Pool
  kinds: BackgroundKinds
  holder: string
  /** How long a turn lasts, in milliseconds; a step that is under way ends after that. */
  turnMs: number
  /** Between two tries of a request that an outage stopped, in milliseconds. */
  retryMs: number
  signal: AbortSignal
  log: { warn (details: object, message: string): void, info (details: object, message: string): void }
}

/** Another worker has the request: what this one wanted to keep is not kept. */
export class TurnLost extends Error {
  override readonly name = 'TurnLost'
}

/** A request that ends its worker again and again, or keeps failing without an outage, is given up. */
const mostFailures = 12
const longestWaitMs = 5 * 60_000

/** The request's next turn, unless another worker has it. Never throws. */
export async function giveTurn (options: TurnOptions, id: string): Promise<void> {
  const { pool, holder, signal, log } = options
  try {
    await withLease({ pool, name: leaseOf(id), holder, signal }, async (lease) => {
      const begun = await begin(pool, id)
      const kind = begun && options.kinds[begun.kind]
      if (!begun || !kind) return
      await takeTurn(options, kind, begun, lease.signal)
    })
  } catch (error) {
    if (error instanceof LeaseHeld || error instanceof LeaseLost || error instanceof TurnLost || signal.aborted) return
    log.warn({ err: error, request: id }, 'a turn of a request in the background failed, the reconciler repeats it')
  }
}

interface Begun extends BackgroundRequest { turn: string }

/** Waits for whatever the last holder of the turn still writes. Nothing when the request is finished. */
async function begin (pool: Pool, id: string): Promise<Begun | undefined> {
  const { rows: [begun] } = await pool.query<Begun>(`
    UPDATE ledger.background_requests SET turn = turn + 1, failures = failures + 1
    WHERE id = $1 AND state = 'accepted'
    RETURNING id, kind, user_id AS "userId", input, progress, failures - 1 AS failures, turn, created_at AS "createdAt"`,
  [id])
  return begun
}

async function takeTurn (
  options: TurnOptions, kind: BackgroundKind, begun: Begun, signal: AbortSignal
): Promise<void> {
  const { pool, turnMs, log } = options
  const until = performance.now() + turnMs
  const turn: Turn = {
    signal,
    isOver: () => signal.aborted || performance.now() >= until,
    async keep (progress, write) {
      await inTransaction(pool, async (tx) => {
        const { rowCount } = await tx.query(`
          UPDATE ledger.background_requests SET progress = $3, failures = 0
          WHERE id = $1 AND turn = $2 AND state = 'accepted'`, [begun.id, begun.turn, progress])
        if (rowCount !== 1) throw new TurnLost('another worker has the request')
        await write?.(tx)
      })
      begun.progress = progress
    }
  }
  try {
    const ended = begun.failures < mostFailures ? await kind.work(begun, turn) : givenUp
    if (ended === 'again') return await release(pool, begun, { failures: 0, inMs: 0 })
    if (ended.state === 'waiting') return await release(pool, begun, { failures: 0, inMs: ended.inMs })
    const at = new Date().toISOString()
    await kind.finish(begun, ended, at)
    await end(pool, begun, ended, at)
  } catch (error) {
    if (error instanceof TurnLost) throw error
    const { failures, inMs } = waitAfter(error, begun.failures, options)
    await release(pool, begun, { failures, inMs })
    if (signal.aborted) return
    const { id: request, kind: name } = begun
    log.warn({ err: error, request, kind: name, failures }, 'a request in the background is tried again')
  }
}

const givenUp: Ended = { state: 'failed', reason: 'It could not be finished.' }

function waitAfter (error: unknown, failures: number, { retryMs, signal }: TurnOptions) {
  if (signal.aborted || isOutage(error)) return { failures, inMs: signal.aborted ? 0 : retryMs }
  return { failures: failures + 1, inMs: Math.min(longestWaitMs, retryMs * 2 ** failures) }
}

/** A server that says what is wrong with a statement is there: what else Postgres fails with passes. */
function isOutage (error: unknown): boolean {
  if (isOfOutage(error) || error instanceof LeaseLost) return true
  if (error instanceof DatabaseError) return /^(08|53|57|25006)/.test(error.code ?? '')
  return error instanceof Error && outageWords.test(`${error.name} ${error.message}`)
}

const outageWords = /ECONN|timeout|Connection terminated|NotKnownYet|NotCaughtUp|OtherLog|StreamBusy/

/** Its place in the queue is free: others have their turn, then it has another one. */
async function release (
  pool: Pool, { id, turn }: Begun, { failures, inMs }: { failures: number, inMs: number }
): Promise<void> {
  await pool.query(`
    UPDATE ledger.background_requests
    SET failures = $3, queued_at = NULL, due_at = clock_timestamp() + $4 * interval '1 ms'
    WHERE id = $1 AND turn = $2 AND state = 'accepted'`, [id, turn, failures, inMs])
  await notifyRequests(pool)
}

async function end (pool: Pool, { id, turn }: Begun, ended: Ended, at: string): Promise<void> {
  const reason = ended.state === 'failed' ? ended.reason : null
  await pool.query(`
    UPDATE ledger.background_requests
    SET state = $3, reason = $4, finished_at = $5, queued_at = NULL, input = '{}'
    WHERE id = $1 AND turn = $2 AND state = 'accepted'`, [id, turn, ended.state, reason, at])
  await pool.query('DELETE FROM ledger.leases WHERE name = $1', [leaseOf(id)])
  await notifyRequests(pool)
}
