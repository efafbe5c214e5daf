// One line of the results: what was measured, beside what limits it.

/** As it stands in `bench/results.json`. What does not apply is null. */
export interface Entry {
  name: string
  /** Of `ours` and `limit`. */
  unit: string
  ours: number
  /** What no service here could exceed, or what is to be reached; measured in the same run. */
  limit: number | null
  limit_name: string | null
  /** `ours` of `limit`. */
  ratio: number | null
  p50_ms: number | null
  p99_ms: number | null
  /** Of all processes, back ends included, for each unit of work. */
  cpu_ms: number | null
  /** Of the processes of the service together, without Postgres. */
  peak_rss_mb: number | null
}

/** What is to be reached, in words, and whether it was. */
export interface Aim { text: string, isMet: boolean }

export interface Measurement { entry: Entry, aims: Aim[] }

/** What could not be measured, and why. */
export interface Missing { name: string, reason: string }

export interface Found { measurements: Measurement[], missing: Missing[] }

interface Given extends Pick<Entry, 'name' | 'unit' | 'ours'> {
  limit?: { value: number, name: string } | undefined
  p50_ms?: number
  p99_ms?: number
  cpu_ms?: number
  peak_rss_mb?: number
}

/** @param aimsOf what is to be reached, told of the finished entry */
export function measurement (
  { name, unit, ours, limit, ...more }: Given, aimsOf: (entry: Entry) => Aim[] = () => []
): Measurement {
  const entry: Entry = {
    name,
    unit,
    ours: rounded(ours) ?? NaN,
    limit: rounded(limit?.value),
    limit_name: limit?.name ?? null,
    ratio: rounded(limit && ours / limit.value),
    p50_ms: rounded(more.p50_ms),
    p99_ms: rounded(more.p99_ms),
    cpu_ms: rounded(more.cpu_ms),
    peak_rss_mb: rounded(more.peak_rss_mb)
  }
  return { entry, aims: aimsOf(entry) }
}

/** To four digits; null for what is no number, as where /proc is not there. */
function rounded (value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Number(value.toPrecision(4))
}

/** At least so much of the limit. */
export const share = (least: number) => ({ ratio }: Entry): Aim[] =>
  [{ text: `${Math.round(least * 100)} % of the limit`, isMet: (ratio ?? 0) >= least }]

/** So much at most. */
export const atMost = (what: keyof typeof words, most: number) => (entry: Entry): Aim[] => {
  const value = entry[what]
  return [{ text: `${words[what]} ${most}`, isMet: value !== null && value <= most }]
}

const words = { ours: 'at most', p50_ms: 'p50 ms', p99_ms: 'p99 ms', cpu_ms: 'CPU ms', peak_rss_mb: 'peak MiB' }

export const all = (...aims: Array<(entry: Entry) => Aim[]>) => (entry: Entry) => aims.flatMap((aim) => aim(entry))

export const sum = (values: Record<string, number>) => Object.values(values).reduce((all, each) => all + each, 0)
