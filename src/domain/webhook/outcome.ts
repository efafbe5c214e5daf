// What came of an attempt, and what that means for its delivery: rules of the sender, without input or output.
import { baseDelay, withJitter } from './schedule.js'

/** Where an attempt without an answer ended. */
export type Stage = 'blocked' | 'dns' | 'connect' | 'tls' | 'connection' | 'timeout'

/** What the receiver did. An answer counts when its headers arrive, with or without its body. */
export type Result =
  | { kind: 'answer', status: number, retryAfter: string | undefined, excerpt: string, truncated: boolean }
  | { kind: 'failure', stage: Stage, message: string }

/** `outcome` of a finished attempt. `unknown`: its worker died or was stopped before it could report. */
export type Outcome = 'delivered' | 'gone' | 'rejected' | Stage | 'unknown'

/** What happens to the delivery. `retry` is due after `inMs`. */
export type Verdict =
  | { status: 'delivered' }
  | { status: 'cancelled', reason: 'gone' }
  | { status: 'exhausted', reason: 'attempts_used_up' }
  | { status: 'retry', inMs: number }

export interface Circumstances {
  /** Waits before each attempt, in milliseconds. */
  schedule: readonly number[]
  /** Failed attempts before this one. */
  failures: number
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. */
  now: number
  /** In [0, 1). */
  random: number
}

const floorMs = 60_000
const quarterMs = 15 * 60_000

export function outcomeOf (result: Result): Outcome {
  if (result.kind === 'failure') return result.stage
  if (result.status >= 200 && result.status <= 299) return 'delivered'
  return result.status === 410 ? 'gone' : 'rejected'
}

/** As Standard Webhooks says: 2xx is success, 410 ends the delivery, the schedule repeats the rest. */
export function verdictOf (result: Result, { schedule, failures, now, random }: Circumstances): Verdict {
  const outcome = outcomeOf(result)
  if (outcome === 'delivered') return { status: 'delivered' }
  if (outcome === 'gone') return { status: 'cancelled', reason: 'gone' }
  const base = baseDelay(schedule, failures + 1)
  if (base === undefined) return { status: 'exhausted', reason: 'attempts_used_up' }
  const floor = isOverloaded(result) ? floorMs : 0
  return { status: 'retry', inMs: Math.max(withJitter(base, random), floor, retryAfterDelay(result, base, now)) }
}

/** 429, 502, 504 and a time-out mean: send more slowly. */
function isOverloaded (result: Result): boolean {
  return result.kind === 'answer' ? [429, 502, 504].includes(result.status) : result.stage === 'timeout'
}

/** `Retry-After` within [base, max(2 x base, 15 min)]; 0 when it is absent, past or not readable. */
function retryAfterDelay (result: Result, base: number, now: number): number {
  const wanted = result.kind === 'answer' ? parseRetryAfter(result.retryAfter, now) : undefined
  if (wanted === undefined || wanted <= 0) return 0
  return Math.min(Math.max(wanted, base), Math.max(2 * base, quarterMs))
}

const imfOrRfc850 = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](\d\d|\d{4}) \d\d:\d\d:\d\d GMT$/
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/** Milliseconds from `now` on: seconds, or a date in any form of RFC 9110, section 5.6.7, which is in UTC. */
export function parseRetryAfter (header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  if (!imfOrRfc850.test(text) && !asctime.test(text)) return undefined
  const date = Date.parse(asctime.test(text) ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : date - now
}
