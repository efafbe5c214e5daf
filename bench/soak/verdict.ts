// What a soak asserts, and what it reports.
import Table from 'cli-table3'
import { median, percentile, whole } from '../support/statistics.js'
import type { Outcome } from './load.js'
import type { Growth } from './memory.js'

/** `p99` is the median of those of its windows, so that one disturbance of the machine decides nothing. */
interface Phase { requests: number, p50: number, p99: number, failures: string[] }

export interface Soaked {
  minutes: number
  /** Requests a second: the most that this machine does, and what the phases are done at. */
  top: number
  rate: number
  /** Without and with hostile users. */
  calm: Phase
  beset: Phase
  /** Calls that were reported, and webhooks that came. */
  webhooks: { reported: number, arrived: number }
  memory: Growth[]
  /** What hostile users were answered, by attack and status. */
  hostile: Record<string, Record<string, number>>
}

/** Of what is shorter a disturbance of the machine is a large part: its p99 is told, and not judged. */
const shortMinutes = 5

/**
 * So much more memory is taken for flat. Caches that are bounded by counts fill for some minutes, the faster the more
 * the machine does a second: a short soak sees that, and finds only what is held on to grossly.
 */
const fairGrowth = { share: 1 / 2, mebibytes: 32 }
const fairGrowthWhenShort = { share: 1, mebibytes: 96 }

/** On a few cores everybody waits for everybody a little: below this many milliseconds a p99 is no complaint. */
const unnoticedMs = 150

/** The first windows count for failures alone. */
export function phaseOf (windows: Outcome[], settling: number): Phase {
  const compared = windows.slice(settling)
  const middle = (share: number) => median(compared.map(({ latencies }) => percentile(latencies, share)))
  return {
    requests: windows.reduce((sum, { done }) => sum + done, 0),
    p50: middle(0.5),
    p99: middle(0.99),
    failures: windows.flatMap(({ failures }) => failures)
  }
}

/** Each thing that does not hold, in words. */
export function problemsOf ({ minutes, calm, beset, webhooks, memory }: Soaked): string[] {
  const isShort = minutes < shortMinutes
  const late = isShort ? Infinity : Math.max(2 * calm.p99, unnoticedMs)
  const fair = isShort ? fairGrowthWhenShort : fairGrowth
  return [
    ...[...calm.failures, ...beset.failures].slice(0, 10).map((failure) => `a request of an honest user failed: ${failure}`),
    ...beset.p99 > late ? [`the p99 beside hostile users is ${whole(beset.p99)} ms, more than ${whole(late)} ms`] : [],
    ...webhooks.arrived < webhooks.reported
      ? [`of ${webhooks.reported} webhooks to honest receivers ${webhooks.arrived} came`]
      : [],
    ...memory.filter(({ first, last }) => last - first > Math.max(fair.mebibytes, first * fair.share))
      .map(({ name, first, last }) => `the memory of ${name} grew from ${whole(first)} to ${whole(last)} MiB`)
  ]
}

export function asText (soaked: Soaked, problems: string[]): string {
  const { top, rate, calm, beset, webhooks, memory, hostile } = soaked
  const style = { head: [], border: [] }
  const phases = new Table({ head: ['honest users', 'requests', 'failed', 'p50 ms', 'p99 ms'], style })
  for (const [name, phase] of [['alone', calm], ['beside hostile users', beset]] as const) {
    phases.push([name, phase.requests, phase.failures.length, phase.p50.toFixed(1), phase.p99.toFixed(1)])
  }
  const processes = new Table({ head: ['memory of', 'lives at first, MiB', 'at last, MiB', 'taken at most, MiB'], style })
  for (const { name, first, last, most } of memory) processes.push([name, whole(first), whole(last), whole(most)])
  const attacks = new Table({ head: ['hostile users', 'answers by status'], style })
  for (const [name, counts] of Object.entries(hostile)) {
    attacks.push([name, Object.entries(counts).map(([status, count]) => `${status}: ${count}`).join(', ')])
  }
  return [
    `${whole(rate)} requests a second, half of ${whole(top)} at most; ${webhooks.arrived} webhooks for ${webhooks.reported} calls`,
    phases.toString(), processes.toString(), attacks.toString(),
    problems.length === 0 ? 'It holds.' : `It does not hold:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, ''
  ].join('\n')
}
