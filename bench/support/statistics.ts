// Numbers out of many measurements.

/** The value below which this share (0 to 1) of the values lies. */
export function percentile (values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

export const median = (values: readonly number[]) => percentile(values, 0.5)

/** As people read it. */
export function whole (value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 0 })
}

export function perSecond (count: number, seconds: number): string {
  return whole(count / seconds)
}
