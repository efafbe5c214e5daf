// Reads the time of `--since`.
import { isDayOrInstant } from '../../http/input/day-or-instant.js'

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A day, an instant, or how long ago: `90m`, `12h`, `3d`. @throws Error that says what it must be */
export function sinceTime (text: string, now = Date.now()): Date {
  const [, amount, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (amount !== undefined) return new Date(now - Number(amount) * (unitMs[unit] ?? 0))
  if (isDayOrInstant(text)) return new Date(text)
  throw new Error('--since must be a day such as 2026-01-31, an instant such as 2026-01-31T12:00:00Z, ' +
    'or how long ago, such as 90m, 12h or 3d')
}
