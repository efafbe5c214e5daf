// Rules of the sender: the outcome of an attempt, what it means for its delivery, and when the next one is due.

/** The example schedule of the Standard Webhooks specification: ten attempts over 75 h 35 min. */
export const defaultSchedule = '0s,5s,5m,30m,2h,5h,10h,14h,20h,24h'

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const longestMs = 30 * 86_400_000
const jitterShare = 0.2

/**
 * Reads a list of waits, `0s,5s,5m`: as many attempts as it has entries, each due that long after the one before.
 * @returns milliseconds
 * @throws Error that says what is wrong, to follow the name of the setting
 */
export function parseSchedule (text: string): number[] {
  const entries = text.split(',').map((entry) => entry.trim())
  if (entries.length > 50) throw new Error('must have at most 50 entries')
  return entries.map(parseWait)
}

function parseWait (entry: string): number {
  const [, amount, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(entry) ?? []
  if (amount === undefined) throw new Error(`must be a list of waits such as 0s,5s,5m,2h; "${entry}" is not one`)
  const ms = Number(amount) * (unitMs[unit] ?? 0)
  if (ms > longestMs) throw new Error(`must not have a wait of more than 30 days, as "${entry}" is`)
  return ms
}

/** `ms`, up to 20 % more or less: receivers that failed together are not tried together. `random` is in [0, 1). */
export function withJitter (ms: number, random: number): number {
  return Math.round(ms * (1 - jitterShare + 2 * jitterShare * random))
}

/** The step at which an attempt without an answer ended. */
export type Stage = 'blocked' | 'dns' | 'connect' | 'tls' | 'connection' | 'timeout'

/** What the receiver did. An answer counts when its headers arrive, with or without its body. */
export type Result =
  | { kind: 'answer', status: number, retryAfter: string | undefined, excerpt: string, truncated: boolean }
  | { kind: 'failure', stage: Stage, message: string }

/** `outcome` of a finished attempt. `unknown`: its worker died or was stopped before it could report. */
export const outcomes = [
  'delivered', 'gone', 'rejected', 'blocked', 'dns', 'connect', 'tls', 'connection', 'timeout', 'unknown'
] as const
export type Outcome = typeof outcomes[number]

/** What happens to the delivery. `retry` is due after `inMs`. */
type Verdict =
  | { status: 'delivered' }
  | { status: 'cancelled', reason: 'gone' }
  | { status: 'exhausted', reason: 'attempts_used_up' | 'expired' }
  | { status: 'retry', inMs: number }

interface Circumstances {
  /** Waits before each attempt, in milliseconds. */
  schedule: readonly number[]
  /** Failed attempts before this one. */
  failures: number
  /** Milliseconds since its schedule began. */
  ageMs: number
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. */
  now: number
  /** In [0, 1). */
  random: number
}

/** How long nothing is sent to the endpoint, and why. */
interface Pause { inMs: number, reason: 'too_many_requests' | 'unavailable' }

const floorMs = 60_000
/** Half an hour more than the schedule lasts: a receiver that only says 429 is not asked for ever. */
const longestLifeMs = 76 * 3_600_000
const quarterMs = 15 * 60_000

export function outcomeOf (result: Result): Outcome {
  if (result.kind === 'failure') return result.stage
  if (result.status >= 200 && result.status <= 299) return 'delivered'
  return result.status === 410 ? 'gone' : 'rejected'
}

/** What an attempt means for its delivery and its webhook. */
export interface Judgement {
  verdict: Verdict
  /** Whether it uses up one of the attempts of the schedule. */
  usesAttempt: boolean
  /** Whether the webhook failed. */
  fails: boolean
  pause?: Pause | undefined
}

/**
 * As Standard Webhooks says: 2xx is success, 410 ends the delivery. A 429, and a 503 that says how long, pause the
 * webhook and use no attempt: the delivery is due when the pause ends. The schedule repeats other failures.
 */
export function judge (result: Result, circumstances: Circumstances): Judgement {
  const { schedule, failures, ageMs, now, random } = circumstances
  const outcome = outcomeOf(result)
  if (outcome === 'delivered') return { verdict: { status: 'delivered' }, usesAttempt: false, fails: false }
  if (outcome === 'gone') return { verdict: { status: 'cancelled', reason: 'gone' }, usesAttempt: true, fails: true }
  const asked = result.kind === 'answer' ? parseRetryAfter(result.retryAfter, now) : undefined
  if (hasStatus(result, 429) || (hasStatus(result, 503) && asked !== undefined)) {
    const inMs = asked === undefined ? floorMs : Math.min(Math.max(asked, 1_000), quarterMs)
    const pause: Pause = { inMs, reason: hasStatus(result, 429) ? 'too_many_requests' : 'unavailable' }
    const verdict: Verdict = ageMs >= longestLifeMs ? { status: 'exhausted', reason: 'expired' } : { status: 'retry', inMs }
    return { verdict, usesAttempt: false, fails: pause.reason === 'unavailable', pause }
  }
  const base = schedule[failures + 1]
  const verdict: Verdict = base === undefined
    ? { status: 'exhausted', reason: 'attempts_used_up' }
    : { status: 'retry', inMs: Math.max(withJitter(base, random), isOverloaded(result) ? floorMs : 0) }
  return { verdict, usesAttempt: true, fails: true }
}

const hasStatus = (result: Result, status: number) => result.kind === 'answer' && result.status === status

/** 502, 504 and a time-out mean: send more slowly. */
function isOverloaded (result: Result): boolean {
  return result.kind === 'answer' ? [502, 504].includes(result.status) : result.stage === 'timeout'
}

const imfOrRfc850 = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](\d\d|\d{4}) \d\d:\d\d:\d\d GMT$/
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/** Milliseconds from `now` on: seconds, or a date in any form of RFC 9110, section 5.6.7, which is in UTC. */
function parseRetryAfter (header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  if (!imfOrRfc850.test(text) && !asctime.test(text)) return undefined
  const date = Date.parse(asctime.test(text) ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : date - now
}
