// Lets one process of many be the active one, and lets another take over within seconds when it dies.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

/** Proves who is active: every later holder has a higher epoch. */
export interface Lease {
  epoch: bigint
  /** Aborted with LeaseLost when the lease is lost, or when the holder is asked to stop. */
  signal: AbortSignal
}

export interface LeaseOptions {
  pool: Pool
  /** What is leased, for instance `projection assistants g1`. */
  name: string
  /** The process that holds it, for operators: host, pid and a random part. */
  holder: string
  /** Gives the lease up to a holder that does not yield: for commands that only fill in for a role. */
  yields?: boolean | undefined
  signal: AbortSignal
  times?: LeaseTimes | undefined
}

/** In milliseconds. */
export interface LeaseTimes {
  renewEvery: number
  /** After its last renewal. */
  expiresAfter: number
  /** How often a standby tries to acquire it. */
  tryEvery: number
}

/** An expired lease is taken within five seconds of its holder's last sign. */
const usualTimes: LeaseTimes = { renewEvery: 1_000, expiresAfter: 4_000, tryEvery: 500 }

/** Another process holds the lease, and is alive. */
export class LeaseHeld extends Error {
  override readonly name = 'LeaseHeld'
  constructor (readonly lease: string, readonly holder: string) { super(`${lease} belongs to ${holder}`) }
}

/** Another process has the lease, or Postgres did not answer for as long as the lease lasts. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor (readonly lease: string) {
    super(`${lease} was lost: another process took over, or Postgres did not answer in time`)
  }
}

/**
 * Waits until the lease is free, runs `work` while it holds the lease, releases it, and begins again until `signal`
 * is aborted. `work` must end when the signal of its lease is aborted. Errors of `work` are thrown on, after the lease
 * was released.
 */
export async function wheneverLeased (options: LeaseOptions, work: (lease: Lease) => Promise<void>): Promise<void> {
  const { signal, times = usualTimes } = options
  while (!signal.aborted) {
    const epoch = await acquire(options)
    if (epoch === undefined) await pause(times.tryEvery, signal)
    else await hold(options, epoch, work)
  }
}

/**
 * Runs `work` once while it holds the lease, and answers its result. It waits for the lease of a dead holder.
 * @throws LeaseHeld when a living holder keeps it
 */
export async function withLease<Result> (
  options: LeaseOptions, work: (lease: Lease) => Promise<Result>
): Promise<Result> {
  const { pool, name, signal, times = usualTimes } = options
  const giveUpAt = Date.now() + times.expiresAfter + times.renewEvery
  for (;;) {
    signal.throwIfAborted()
    const epoch = await acquire(options)
    if (epoch !== undefined) return await hold(options, epoch, work)
    if (Date.now() > giveUpAt) throw new LeaseHeld(name, await leaseHolder(pool, name) ?? 'another process')
    await pause(times.renewEvery / 4, signal)
  }
}

/** The process that holds the lease; nothing when it is free. */
export async function leaseHolder (pool: Pool, name: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ holder: string }>(
    'SELECT holder FROM ledger.leases WHERE name = $1 AND expires_at > clock_timestamp()', [name])
  return rows[0]?.holder
}

/** The names of the leases that `holder` has now. */
export async function leasesOf (pool: Pool, holder: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM ledger.leases WHERE holder = $1 AND expires_at > clock_timestamp()', [holder])
  return rows.map(({ name }) => name)
}

async function hold<Result> (
  options: LeaseOptions, epoch: bigint, work: (lease: Lease) => Promise<Result>
): Promise<Result> {
  const { pool, name, signal } = options
  const lost = new AbortController()
  const lease: Lease = { epoch, signal: AbortSignal.any([signal, lost.signal]) }
  const renewing = renewUntilLost(options, epoch, lost, lease.signal)
  try {
    return await work(lease)
  } finally {
    lost.abort()
    await renewing
    await release(pool, name, epoch).catch(() => {}) // it expires by itself
  }
}

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

async function renewUntilLost (
  options: LeaseOptions, epoch: bigint, lost: AbortController, signal: AbortSignal
): Promise<void> {
  const { name, times: { renewEvery, expiresAfter } = usualTimes } = options
  let safeUntil = Date.now() + expiresAfter
  while (!signal.aborted) {
    await pause(renewEvery, signal)
    if (signal.aborted) return
    const sentAt = Date.now()
    const renewing = renew(options, epoch).catch(() => undefined)
    const renewed = await Promise.race([renewing, pause(safeUntil - sentAt, signal)]) // without an answer it expires
    if (renewed) safeUntil = sentAt + expiresAfter
    if (renewed === false || Date.now() >= safeUntil) lost.abort(new LeaseLost(name))
  }
}

async function renew ({ pool, name, times = usualTimes }: LeaseOptions, epoch: bigint): Promise<boolean> {
  const { rowCount } = await pool.query(`
    UPDATE ledger.leases SET expires_at = clock_timestamp() + $3 * interval '1 ms'
    WHERE name = $1 AND epoch = $2 AND expires_at >= clock_timestamp()`, [name, epoch, times.expiresAfter])
  return rowCount === 1
}

async function release (pool: Pool, name: string, epoch: bigint): Promise<void> {
  await pool.query('UPDATE ledger.leases SET expires_at = \'-infinity\' WHERE name = $1 AND epoch = $2', [name, epoch])
}

/** Waits, or returns early when `signal` is aborted. */
export async function pause (ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
