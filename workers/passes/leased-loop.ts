// Repeats a piece of work in one process of many.
import type { Pool } from 'pg'
import { wheneverLeased } from '../../src/subscriptions/lease.js'
import { beat } from '../../src/timing/beat.js'
import { pause } from '../../src/timing/pause.js'
import { endsWithin } from '../../src/postgres/ends-within.js'

export interface LoopOptions {
  pool: Pool
  /** Of the lease. */
  name: string
  holder: string
  signal: AbortSignal
  /** In milliseconds: a pass that is done is followed by one at the next beat, one that failed within two seconds. */
  everyMs: number
  /** A pass that takes longer is given up with the lease: it may wait for a connection that is dead. */
  passWithinMs?: number | undefined
  onError (error: unknown): void
}

export interface Pass {
  /** Of this lease. */
  isFirst: boolean
  /** Aborted when the pass is given up: then it must begin nothing more. */
  signal: AbortSignal
}

const longestPassMs = 60_000
/** After an error, as an outage ends by itself, and then everybody waits. */
const longestBackoffMs = 2_000

/** Makes passes until `signal` is aborted. A pass that says `again` is followed by the next one at once. */
export async function repeatLeased (
  options: LoopOptions, pass: (pass: Pass) => Promise<'again' | 'done'>
): Promise<void> {
  const { pool, name, holder, signal, everyMs, onError } = options
  while (!signal.aborted) {
    try {
      await wheneverLeased({ pool, name, holder, signal }, async (lease) => {
        for (let isFirst = true; !lease.signal.aborted; isFirst = false) {
          const next = await inTime(options, lease.signal, (signal) => pass({ isFirst, signal }))
          if (next === 'done') await beat(everyMs, lease.signal)
        }
      })
    } catch (error) {
      if (signal.aborted) return
      onError(error)
      await pause(Math.min(everyMs, longestBackoffMs), signal)
    }
  }
}

/** @throws what the pass throws, and when it does not end in time */
async function inTime<Result> (
  { name, passWithinMs = longestPassMs }: LoopOptions,
  leased: AbortSignal,
  pass: (signal: AbortSignal) => Promise<Result>
): Promise<Result> {
  const given = new AbortController()
  const giveUp = () => given.abort()
  leased.addEventListener('abort', giveUp)
  const passing = pass(given.signal)
  try {
    if (await endsWithin(passWithinMs, passing)) return await passing
    throw new Error(`a pass of the ${name} did not end within ${passWithinMs} ms: its lease is given up`)
  } finally {
    leased.removeEventListener('abort', giveUp)
    giveUp()
  }
}
