// Lets one process of many be the active one, and hands over within seconds when it dies.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'

/** The active owner's proof: every later owner has a higher epoch. */
export interface Lease {
  epoch: bigint
  /** Aborted when the lease is lost, with LeaseLost, or the owner is asked to stop. */
  signal: AbortSignal
}

export interface LeaseOptions {
  pool: Pool
  /** What is owned, for instance `projection assistants g1`. */
  name: string
  /** Who owns it, for operators: host, pid and a random part. */
  holder: string
  /** Gives way to any owner that does not: for those who only fill in. */
  yields?: boolean | undefined
  signal: AbortSignal
}

/** Another owner has the lease, and is alive. */
export class Owned extends Error {
  override readonly name = 'Owned'
  constructor (readonly lease: string, readonly holder: string) { super(`${lease} belongs to ${holder}`) }
}

/** Another process has the lease, or Postgres did not answer for as long as it lasts. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor (readonly lease: string) { super(`${lease} was lost: another process took over, or Postgres did not answer in time`) }
}

const renewEveryMs = 1_000
const expiresAfterMs = 4_000
/** So that a lease that expired is taken within five seconds of its owner's last sign. */
const standbyLooksEveryMs = 500

/**
 * Waits until the lease is free, runs `work` while holding it, gives it back, and does so again until `signal`
 * is aborted. `work` must end when its lease's signal is aborted. Errors of `work` are thrown on, after the
 * lease was given back.
 */
export async function whileOwning (options: LeaseOptions, work: (lease: Lease) => Promise<void>): Promise<void> {
  const { signal } = options
  while (!signal.aborted) {
    const epoch = await acquire(options)
    if (epoch === undefined) await pause(standbyLooksEveryMs, signal)
    else await hold(options, epoch, work)
  }
}

/**
 * Runs `work` once while holding the lease, and answers its result. A dead owner's lease is waited for.
 * @throws Owned when a living owner keeps it
 */
export async function owning<Result> (options: LeaseOptions, work: (lease: Lease) => Promise<Result>): Promise<Result> {
  const { pool, name, signal } = options
  const giveUpAt = Date.now() + expiresAfterMs + renewEveryMs
  for (;;) {
    signal.throwIfAborted()
    const epoch = await acquire(options)
    if (epoch !== undefined) return await hold(options, epoch, work)
    if (Date.now() > giveUpAt) throw new Owned(name, await ownerOf(pool, name) ?? 'another process')
    await pause(renewEveryMs / 4, signal)
  }
}

/** Who holds the lease, if anybody does. */
export async function ownerOf (pool: Pool, name: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ holder: string }>('SELECT holder FROM ledger.leases WHERE name = $1 AND expires_at > clock_timestamp()', [name])
  return rows[0]?.holder
}

async function hold<Result> ({ pool, name, signal }: LeaseOptions, epoch: bigint, work: (lease: Lease) => Promise<Result>): Promise<Result> {
  const lost = new AbortController()
  const lease: Lease = { epoch, signal: AbortSignal.any([signal, lost.signal]) }
  const renewing = renewUntilLost(pool, name, epoch, lost, lease.signal)
  try {
    return await work(lease)
  } finally {
    lost.abort()
    await renewing
    await release(pool, name, epoch).catch(() => {}) // it expires by itself
  }
}

async function acquire ({ pool, name, holder, yields = false }: LeaseOptions): Promise<bigint | undefined> {
  const { rows } = await pool.query<{ epoch: string }>(`
    INSERT INTO ledger.leases AS held (name, epoch, holder, expires_at, yields)
    VALUES ($1, 1, $2, clock_timestamp() + $3 * interval '1 ms', $4)
    ON CONFLICT (name) DO UPDATE
      SET epoch = held.epoch + 1, holder = excluded.holder, expires_at = excluded.expires_at, yields = excluded.yields
      WHERE held.expires_at < clock_timestamp() OR (held.yields AND NOT excluded.yields)
    RETURNING epoch`, [name, holder, expiresAfterMs, yields])
  return rows[0] && BigInt(rows[0].epoch)
}

async function renewUntilLost (pool: Pool, name: string, epoch: bigint, lost: AbortController, signal: AbortSignal): Promise<void> {
  let safeUntil = Date.now() + expiresAfterMs
  while (!signal.aborted) {
    await pause(renewEveryMs, signal)
    if (signal.aborted) return
    const askedAt = Date.now()
    const renewed = await Promise.race([renew(pool, name, epoch).catch(() => undefined), pause(safeUntil - askedAt, signal)]) // no answer is no lease
    if (renewed) safeUntil = askedAt + expiresAfterMs
    if (renewed === false || Date.now() >= safeUntil) lost.abort(new LeaseLost(name))
  }
}

async function renew (pool: Pool, name: string, epoch: bigint): Promise<boolean> {
  const { rowCount } = await pool.query(`
    UPDATE ledger.leases SET expires_at = clock_timestamp() + $3 * interval '1 ms'
    WHERE name = $1 AND epoch = $2 AND expires_at >= clock_timestamp()`, [name, epoch, expiresAfterMs])
  return rowCount === 1
}

async function release (pool: Pool, name: string, epoch: bigint): Promise<void> {
  await pool.query('UPDATE ledger.leases SET expires_at = \'-infinity\' WHERE name = $1 AND epoch = $2', [name, epoch])
}

/** Waits, or returns early when `signal` is aborted. */
export async function pause (ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
