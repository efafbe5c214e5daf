// Elects one active process of many; when it dies, another acquires the lease within seconds.
import type { Pool } from 'pg'
import { endsWithin, pause } from '../timing.js'

interface LeaseOptions {
  pool: Pool
  /** What is leased, for instance `projection assistants g1`. */
  name: string
  /** The process that holds it, for operators: host, pid and a random part. */
  holder: string
  /** Yields the lease to a holder that does not yield: for commands that only fill in for a role. */
  yields?: boolean | undefined
  /** False to try only once. By default, it waits until the lease of a dead holder expires. */
  waits?: boolean
  signal: AbortSignal
  times?: LeaseTimes | undefined
}

/** In milliseconds. */
export interface LeaseTimes {
  renewEvery: number
  /** Counted from the last renewal. */
  expiresAfter: number
  /** How often a standby tries to acquire it. */
  tryEvery: number
}

/** Another process takes over within five seconds of a holder's last renewal. */
const usualTimes: LeaseTimes = { renewEvery: 1_000, expiresAfter: 4_000, tryEvery: 500 }

/** A fencing token: every later holder has a higher epoch. */
export interface Lease {
  epoch: bigint
  /** Aborted with LeaseLost when the lease is lost, or when the holder is asked to stop. */
  signal: AbortSignal
}

export class LeaseHeld extends Error {
  override readonly name = 'LeaseHeld'
  constructor (readonly lease: string, readonly holder: string) { super(`${lease} belongs to ${holder}`) }
}

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor (readonly lease: string) {
    super(`${lease} was lost: another process acquired it, or Postgres did not answer in time`)
  }
}

/** A dead connection must not delay a process that stops. */
const releaseWithinMs = 1_000

/**
 * Waits for the lease, runs `work` while it holds it, releases it, and starts over until `signal` is aborted. `work`
 * must end when its lease's signal is aborted, and does not begin with one that is. Rethrows errors of `work` after it
 * has released the lease.
 */
export async function wheneverLeased (options: LeaseOptions, work: (lease: Lease) => Promise<void>): Promise<void> {
  const { signal, times = usualTimes } = options
  while (!signal.aborted) {
    const epoch = await acquire(options)
    if (epoch === undefined) await pause(times.tryEvery, signal)
    else await hold(options, epoch, signal.aborted ? async () => {} : work)
  }
}

/**
 * Runs `work` once while it holds the lease, and returns its result.
 * @throws LeaseHeld when a living holder keeps it
 */
export async function withLease<Result> (
  options: LeaseOptions, work: (lease: Lease) => Promise<Result>
): Promise<Result> {
  const { pool, name, signal, waits = true, times = usualTimes } = options
  const giveUpAt = waits ? Date.now() + times.expiresAfter + times.renewEvery : 0
  for (;;) {
    signal.throwIfAborted()
    const epoch = await acquire(options)
    if (epoch !== undefined) return await hold(options, epoch, work)
    if (Date.now() > giveUpAt) throw new LeaseHeld(name, await leaseHolder(pool, name) ?? 'another process')
    await pause(times.renewEvery / 4, signal)
  }
}

/** The process that holds the lease; undefined when it is free. */
export async function leaseHolder (pool: Pool, name: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ holder: string }>(
    'SELECT holder FROM ledger.leases WHERE name = $1 AND expires_at > clock_timestamp()', [name])
  return rows[0]?.holder
}

/** The leases that `holder` has now. */
export async function leasesOf (pool: Pool, holder: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM ledger.leases WHERE holder = $1 AND expires_at > clock_timestamp()', [holder])
  return rows.map(({ name }) => name)
}

/** @returns the new epoch; undefined while another process holds the lease */
async function acquire (options: LeaseOptions): Promise<bigint | undefined> {
  const { pool, name, holder, yields = false, times = usualTimes } = options
  const { rows } = await pool.query<{ epoch: string }>(`
    INSERT INTO ledger.leases AS held (name, epoch, holder, expires_at, yields)
    VALUES ($1, 1, $2, clock_timestamp() + $3 * interval '1 ms', $4)
    ON CONFLICT (name) DO UPDATE
      SET epoch = held.epoch + 1, holder = excluded.holder, expires_at = excluded.expires_at, yields = excluded.yields
      WHERE held.expires_at < clock_timestamp() OR (held.yields AND NOT excluded.yields)
    RETURNING epoch`, [name, holder, times.expiresAfter, yields])
  return rows[0] && BigInt(rows[0].epoch)
}

async function hold<Result> (
  { pool, name, signal, times = usualTimes }: LeaseOptions, epoch: bigint, work: (lease: Lease) => Promise<Result>
): Promise<Result> {
  const lost = new AbortController()
  const lease: Lease = { epoch, signal: AbortSignal.any([signal, lost.signal]) }
  keepRenewed(pool, { ...lease, name, times, lose: () => lost.abort(new LeaseLost(name)) })
  try {
    return await work(lease)
  } finally {
    lost.abort()
    await endsWithin(releaseWithinMs, pool.query( // it expires anyway
      "UPDATE ledger.leases SET expires_at = '-infinity' WHERE name = $1 AND epoch = $2", [name, epoch]))
  }
}

interface Held extends Lease {
  name: string
  times: LeaseTimes
  lose (): void
  safeUntil?: number
  expiring?: NodeJS.Timeout
}

/** The leases held on a pool: one statement renews all of them every period. */
const heldOn = new WeakMap<Pool, { all: Set<Held>, timer: NodeJS.Timeout }>()

/** Stops renewing when the signal is aborted, even if the work goes on. */
function keepRenewed (pool: Pool, held: Held): void {
  if (held.signal.aborted) return
  expireAt(held, Date.now() + held.times.expiresAfter)
  const { all, timer } = heldOn.get(pool) ?? beginRenewing(pool, held.times.renewEvery)
  all.add(held)
  held.signal.addEventListener('abort', () => {
    clearTimeout(held.expiring)
    all.delete(held)
    if (all.size > 0) return
    clearInterval(timer)
    heldOn.delete(pool)
  }, { once: true })
}

function beginRenewing (pool: Pool, everyMs: number): { all: Set<Held>, timer: NodeJS.Timeout } {
  const all = new Set<Held>()
  // Not awaited: the next renewal takes another connection, so a dead one loses no lease.
  const timer = setInterval(() => { renewAll(pool, [...all]).catch(() => {}) }, everyMs)
  heldOn.set(pool, { all, timer })
  return { all, timer }
}

/** `held` may have one row under two epochs: a process may wait for itself to yield a lease. */
async function renewAll (pool: Pool, held: readonly Held[]): Promise<void> {
  const sentAt = Date.now()
  const { rows } = await pool.query<{ nth: string }>({
    name: 'renew-leases',
    text: `
      UPDATE ledger.leases l SET expires_at = clock_timestamp() + held.for_ms * interval '1 ms'
      FROM unnest($1::text[], $2::bigint[], $3::float8[]) WITH ORDINALITY AS held (name, epoch, for_ms, nth)
      WHERE l.name = held.name AND l.epoch = held.epoch AND l.expires_at >= clock_timestamp() RETURNING nth`,
    values: [held.map(({ name }) => name), held.map(({ epoch }) => epoch), held.map(({ times }) => times.expiresAfter)]
  })
  const renewed = new Set(rows.map(({ nth }) => Number(nth)))
  for (const [index, each] of held.entries()) {
    if (renewed.has(index + 1)) expireAt(each, sentAt + each.times.expiresAfter)
    else each.lose()
  }
}

/** The lease is lost at `safeUntil`, unless a later renewal succeeds. */
function expireAt (held: Held, safeUntil: number): void {
  if (held.signal.aborted || safeUntil <= (held.safeUntil ?? 0)) return
  held.safeUntil = safeUntil
  clearTimeout(held.expiring)
  held.expiring = setTimeout(held.lose, safeUntil - Date.now())
}
