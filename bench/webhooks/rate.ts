// How many a second, out of the times at which they were done.

const warmUpShare = 0.2

/** Without the first fifth, which warms up. `times` are milliseconds, in order. */
export function perSecond (times: readonly number[]): number {
  const first = Math.floor(times.length * warmUpShare)
  const [from, to] = [times[first], times.at(-1)]
  return from === undefined || to === undefined ? NaN : (times.length - 1 - first) / (to - from) * 1_000
}
