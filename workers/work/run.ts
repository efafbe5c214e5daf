// Runs durable work: takes due requests, gives them turns under a lease, and settles what a crash left.
import { type Pool, DatabaseError } from 'pg'
import { isOfOutage } from '../../src/log/errors.js'
import type { Notifications } from '../../src/postgres/notifications.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { LeaseHeld, LeaseLost, withLease } from '../../src/subscriptions/lease.js'
import { endsWithin, pause } from '../../src/timing.js'
import type { Periodic } from '../periodic.js'
import type { BackgroundKind, BackgroundKinds, BackgroundRequest, Ended, Turn } from './kind.js'
import { acceptRequest, dropPrepared, listenForWork, usualOrphanMs } from './requests.js'

export interface WorkOptions
  extends Omit<TurnOptions, 'turnMs' | 'retryMs' | 'signal'>, Partial<Pick<TurnOptions, 'turnMs' | 'retryMs'>> {
  /** Times out idle transactions, so that a frozen process holds none. */
  pool: Pool
  notifications: Notifications
  /** While this is false, nothing runs: the database is behind the log. */
  mayWork: () => boolean
  /** Requests that this process works on at once. */
  concurrency?: number
  /** Polling interval in milliseconds; a notification announces accepted requests at once. */
  lookEveryMs?: number
}

/** More would only share the same two cores; the others wait for their turn. */
const requestsAtOnce = 2
const usualTurnMs = 2_000
const usualLookMs = 2_000
const usualRetryMs = 5_000
/** A step of a kind takes seconds; one that is cut off is repeated. */
const graceMs = 10_000

export function startWork (options: WorkOptions) {
  const { pool, kinds, holder, log, mayWork, concurrency = requestsAtOnce, lookEveryMs = usualLookMs } = options
  const { turnMs = usualTurnMs, retryMs = usualRetryMs } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const running = new Map<string, { kind: string, turn: Promise<void> }>()
  let waking = new AbortController()
  const wake = () => waking.abort()
  const listener = listenForWork(options.notifications, wake)
  const loop = run()
  return {
    /** Begins no further step. A running one ends, or others repeat it. */
    async stop () {
      stopping.abort()
      listener.close()
      wake()
      await endsWithin(graceMs, loop.then(() => Promise.all([...running.values()].map(({ turn }) => turn))))
    }
  }

  async function run (): Promise<void> {
    while (!signal.aborted) {
      waking = new AbortController()
      if (mayWork()) await begin()
      await pause(lookEveryMs, waking.signal)
    }
  }

  async function begin (): Promise<void> {
    const free = Object.keys(kinds).filter(hasRoom)
    const due = await findDue(pool, free, concurrency + 1).catch((err: unknown) => {
      if (!signal.aborted && !isOfOutage(err)) log.warn({ err }, 'work that is due could not be read, it is tried again')
      return []
    })
    for (const { id, kind } of due) {
      if (running.has(id) || !hasRoom(kind)) continue
      const turn = giveTurn({ pool, kinds, holder, turnMs, retryMs, signal, log }, id).then((isOver) => {
        running.delete(id)
        if (isOver) wake()
      })
      running.set(id, { kind, turn })
    }
  }

  function hasRoom (kind: string): boolean {
    const under = [...running.values()].map((each) => each.kind)
    if (kinds[kind]?.isLong) return !under.includes(kind)
    return under.filter((each) => !kinds[each]?.isLong).length < concurrency
  }
}

/** The lease under which a request is worked on. */
const leasePrefix = 'work '

/**
 * The oldest request of each user and kind, those that wait longest first. A user's next request may run while the one
 * before waits for others or backs off after a failure of its own, but not after an outage.
 */
async function findDue (pool: Pool, kinds: string[], most: number): Promise<{ id: string, kind: string }[]> {
  if (kinds.length === 0) return []
  const { rows } = await pool.query<{ id: string, kind: string }>({
    name: 'find-due-work',
    text: `
      SELECT id, kind FROM (
        SELECT DISTINCT ON (kind, user_id) w.id, kind, due_at, l.name AS lease
        FROM ledger.work w
        LEFT JOIN ledger.leases l ON l.name = '${leasePrefix}' || w.id AND l.expires_at > clock_timestamp()
        WHERE state = 'accepted' AND kind = ANY($1) AND (
          l.name IS NOT NULL OR due_at <= clock_timestamp() OR (failures = 0 AND NOT progress ? 'waits_for'))
        ORDER BY kind, user_id, l.name, created_at, w.id) oldest
      WHERE lease IS NULL AND due_at <= clock_timestamp() ORDER BY due_at LIMIT $2`,
    values: [kinds, most]
  })
  return rows
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

/** A request that keeps crashing its worker, or keeps failing without an outage, is given up. */
const mostFailures = 12
const longestWaitMs = 5 * 60_000

/** The request's next turn, unless another worker has it. Never throws. @returns whether it had one */
export async function giveTurn (options: TurnOptions, id: string): Promise<boolean> {
  const { pool, holder, signal, log } = options
  try {
    return await withLease({ pool, name: leasePrefix + id, holder, signal, waits: false }, async (lease) => {
      const begun = await begin(pool, id)
      const kind = begun && options.kinds[begun.kind]
      if (!begun || !kind) return false
      await takeTurn(options, kind, begun, lease.signal)
      return true
    })
  } catch (error) {
    const isOthers = error instanceof LeaseHeld || error instanceof LeaseLost || error instanceof TurnLost
    if (!isOthers && !signal.aborted) {
      log.warn({ err: error, request: id }, 'a turn of a request in the background failed, it is repeated')
    }
    return false
  }
}

interface Begun extends BackgroundRequest { turn: string }

/** Nothing when the request is finished, or its last holder still writes. */
async function begin (pool: Pool, id: string): Promise<Begun | undefined> {
  const { rows: [begun] } = await pool.query<Begun>(`
    UPDATE ledger.work SET turn = turn + 1, failures = failures + 1
    WHERE id = (SELECT id FROM ledger.work WHERE id = $1 AND state = 'accepted' FOR UPDATE SKIP LOCKED)
    RETURNING id, kind, user_id AS "userId", input, progress, failures - 1 AS failures, turn`,
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
          UPDATE ledger.work SET progress = $3, failures = 0, last_error = NULL
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
    await kind.finish?.(begun, ended, at)
    await end(pool, begun, ended, at)
  } catch (error) {
    if (error instanceof TurnLost) throw error
    const { failures, inMs } = waitAfter(error, begun.failures, options)
    await release(pool, begun, { failures, inMs, error })
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

/** If Postgres reports an error in a statement, it is up, so that is no outage. Its other failures pass. */
function isOutage (error: unknown): boolean {
  if (isOfOutage(error) || error instanceof LeaseLost) return true
  if (error instanceof DatabaseError) return /^(08|25(006|P0[34])|53|57)/.test(error.code ?? '')
  return error instanceof Error && outageWords.test(`${error.name} ${error.message}`)
}

const outageWords = /ECONN|timeout|Connection terminated|NotKnownYet|NotCaughtUp|OtherLog|StreamBusy/

const longestError = 500

/** Ends the turn, so that others have theirs. The error is for operators. */
async function release (
  pool: Pool, { id, turn }: Begun, { failures, inMs, error }: { failures: number, inMs: number, error?: unknown }
): Promise<void> {
  const words = error instanceof Error ? error.message.replaceAll('\0', '').slice(0, longestError).toWellFormed() : null
  await pool.query(`
    UPDATE ledger.work
    SET failures = $3, due_at = clock_timestamp() + $4 * interval '1 ms', last_error = coalesce($5, last_error)
    WHERE id = $1 AND turn = $2 AND state = 'accepted'`, [id, turn, failures, inMs, words])
}

async function end (pool: Pool, { id, turn }: Begun, ended: Ended, at: string): Promise<void> {
  const reason = ended.state === 'failed' ? ended.reason : null
  await pool.query(`
    UPDATE ledger.work
    SET state = $3, reason = $4, finished_at = $5, input = '{}'
    WHERE id = $1 AND turn = $2 AND state = 'accepted'`, [id, turn, ended.state, reason, at])
  await pool.query('DELETE FROM ledger.leases WHERE name = $1', [leasePrefix + id])
}

export interface TidyOptions extends Pick<WorkOptions, 'pool' | 'kinds'> {
  everyMs?: number
  /** Age in milliseconds from which nobody will accept a prepared request. */
  orphanedAfterMs?: number
}

const usualTidyMs = 10_000
const atOnce = 100
const removeForMs = 2_000

/** For one worker of many: settles prepared requests, removes expired ones, and lets each kind tidy up. */
export function tidying (
  { pool, kinds, everyMs = usualTidyMs, orphanedAfterMs = usualOrphanMs }: TidyOptions
): Periodic {
  return {
    name: 'background',
    everyMs,
    async run () {
      await settleOrphans(pool, kinds, orphanedAfterMs)
      await removeExpired(pool, kinds)
      for (const kind of Object.values(kinds)) await kind.tidy?.()
    }
  }
}

/** The log says whether they were accepted. */
async function settleOrphans (pool: Pool, kinds: BackgroundKinds, orphanedAfterMs: number): Promise<void> {
  const { rows } = await pool.query<{ id: string, kind: string }>(`
    SELECT id, kind FROM ledger.work
    WHERE state = 'prepared' AND created_at < now() - $1 * interval '1 ms' AND kind = ANY($2)
    ORDER BY created_at LIMIT ${atOnce}`, [orphanedAfterMs, Object.keys(kinds)])
  for (const { id, kind } of rows) {
    if (await kinds[kind]?.wasAccepted?.(id)) await acceptRequest(pool, id)
    else await dropPrepared(pool, id, orphanedAfterMs)
  }
}

/** One of each kind in a statement, which removes the rows that refer to it too; a pass goes on for two seconds. */
async function removeExpired (pool: Pool, kinds: BackgroundKinds): Promise<void> {
  const kept = Object.entries(kinds).map(([kind, { keepDays }]) => ({ kind, days: keepDays }))
  const until = performance.now() + removeForMs
  let removed: number | null
  do {
    ({ rowCount: removed } = await pool.query(`
      DELETE FROM ledger.work WHERE id IN (
        SELECT id FROM json_to_recordset($1) AS kept (kind text, days integer) CROSS JOIN LATERAL (
          SELECT id FROM ledger.work w
          WHERE w.kind = kept.kind AND finished_at < now() - days * interval '1 day' ORDER BY finished_at LIMIT 1) oldest)`,
    [JSON.stringify(kept)]))
  } while (removed && performance.now() < until)
}
