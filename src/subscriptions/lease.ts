// Lets one process of many be the active one, and lets another acquire the lease within seconds when it dies.
import { beat } from '../timing/beat.js'
import { endsWithin } from '../postgres/ends-within.js'
import { acquire, leaseHolder, release, usualTimes, type LeaseOptions } from './lease-row.js'
import { pause } from '../timing/pause.js'
import { renew } from './renewals.js'

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
    await endsWithin(releaseWithinMs, release(pool, name, epoch)) // it expires by itself
  }
}

/**
 * All leases of a process are renewed at the same beats. One dead connection loses none of them: what was not answered
 * is asked again at the next beat, on another one.
 */
async function renewUntilLost (
  { pool, name, times: { renewEvery, expiresAfter } = usualTimes }: LeaseOptions,
  epoch: bigint, lost: AbortController, signal: AbortSignal
): Promise<void> {
  const lose = () => lost.abort(new LeaseLost(name))
  let safeUntil = Date.now() + expiresAfter
  let expiring = setTimeout(lose, expiresAfter)
  while (!signal.aborted) {
    await beat(renewEvery, signal)
    if (!signal.aborted) renewOnce().catch(() => {}) // without an answer it expires
  }
  clearTimeout(expiring)

  async function renewOnce (): Promise<void> {
    const sentAt = Date.now()
    const isHeld = await renew(pool, { name, epoch, forMs: expiresAfter })
    if (signal.aborted) return
    if (!isHeld) return lose()
    if (sentAt + expiresAfter <= safeUntil) return
    safeUntil = sentAt + expiresAfter
    clearTimeout(expiring)
    expiring = setTimeout(lose, safeUntil - Date.now())
  }
}
