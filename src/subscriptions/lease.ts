// Lets one process of many be the active one, and lets another acquire the lease within seconds when it dies.
import type { Pool } from 'pg'
import { endsWithin, pause } from '../timing.js'

interface LeaseOptions {
  pool: Pool
  /** What is leased, for instance `projection assistants g1`. */
  name: string
  /** The process that holds it, for operators: host, pid and a random part. */
  holder: string
  /** Gives the lease up to a holder that does not yield: for commands that only fill in for a role. */
  yields?: boolean | undefined
  /** False to try once. Without it the lease of a dead holder is waited for. */
  waits?: boolean
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

/** Proves who is active: every later holder has a higher epoch. */
export interface Lease {
  epoch: bigint
  /** Aborted with LeaseLost when the lease is lost, or when the holder is asked to stop. */
  signal: AbortSignal
}

/** Another process holds the lease, and is alive. */
export class LeaseHeld extends Error {
  override readonly name = 'LeaseHeld'
  constructor (readonly lease: string, readonly holder: string) { super(`${lease} belongs to ${holder}`) }
}

/** Another process has the lease, or Postgres did not answer for as long as the lease lasts. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor (readonly lease: string) {
    super(`${lease} was lost: another process acquired it, or Postgres did not answer in time`)
  }
}

/** A dead connection must not keep a process that stops. */
const releaseWithinMs = 1_000

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
 * Runs `work` once while it holds the lease, and answers its result.
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

/** @returns the new epoch; nothing while another process holds the lease */
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
    await endsWithin(releaseWithinMs, release(pool, name, epoch)) // it expires by itself
  }
}

async function release (pool: Pool, name: string, epoch: bigint): Promise<void> {
  await pool.query('UPDATE ledger.leases SET expires_at = \'-infinity\' WHERE name = $1 AND epoch = $2', [name, epoch])
}

/** Renewed until its signal is aborted. */
interface Held extends Lease {
  name: string
  times: LeaseTimes
  lose (): void
  safeUntil?: number
  expiring?: NodeJS.Timeout
}

/** What a process holds on a pool: one statement a period renews all of it. */
const heldOn = new WeakMap<Pool, { all: Set<Held>, timer: NodeJS.Timeout }>()

/** Work that outlives its signal keeps no timer. */
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
  // Not awaited: one dead connection loses none of them, as the next statement takes another one.
  const timer = setInterval(() => { renewAll(pool, [...all]).catch(() => {}) }, everyMs)
  heldOn.set(pool, { all, timer })
  return { all, timer }
}

/** A row may be among them twice, under two epochs: a process may wait for itself to yield a lease. */
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

/** Without a later answer it is lost then. */
function expireAt (held: Held, safeUntil: number): void {
  if (held.signal.aborted || safeUntil <= (held.safeUntil ?? 0)) return
  held.safeUntil = safeUntil
  clearTimeout(held.expiring)
  held.expiring = setTimeout(held.lose, safeUntil - Date.now())
}
