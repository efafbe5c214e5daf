// When the next attempt of a delivery is due.

/** The example schedule of the Standard Webhooks specification: ten attempts over 75 h 35 min. */
export const defaultSchedule = '0s,5s,5m,30m,2h,5h,10h,14h,20h,24h'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const longestMs = 30 * unitMs.d
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
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(entry) ?? []
  if (amount === undefined || !isUnit(unit)) {
    throw new Error(`must be a list of waits such as 0s,5s,5m,2h; "${entry}" is not one`)
  }
  const ms = Number(amount) * unitMs[unit]
  if (ms > longestMs) throw new Error(`must not have a wait of more than 30 days, as "${entry}" is`)
  return ms
}

function isUnit (unit: string | undefined): unit is keyof typeof unitMs {
  return unit !== undefined && Object.hasOwn(unitMs, unit)
}

/**
 * The wait before the next attempt after `failures` failed ones, or nothing when the schedule is used up.
 * An attempt whose outcome is unknown is no failure.
 */
export function baseDelay (schedule: readonly number[], failures: number): number | undefined {
  return schedule[failures]
}

/** `ms`, up to 20 % more or less: receivers that failed together are not tried together. `random` is in [0, 1). */
export function withJitter (ms: number, random: number): number {
  return Math.round(ms * (1 - jitterShare + 2 * jitterShare * random))
}
