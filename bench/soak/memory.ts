// How much memory of its own each process takes, and whether that grows.
import { readFileSync, readdirSync } from 'node:fs'
import { percentile } from '../support/statistics.js'

export interface Growth {
  name: string
  /** MiB: what the samples of the first and of the last third come down to, between collections of garbage. */
  first: number
  last: number
  /** At most in any sample. */
  most: number
  isFlat: boolean
}

const sampleEveryMs = 1_000

/**
 * So much more is taken for flat: the heap of node goes up and down by tens of MiB under the same load, and caches that
 * are bounded by counts fill for some minutes yet.
 */
const fair = { share: 1 / 2, mebibytes: 64 }

export class MemorySamples {
  readonly #samples = new Map<string, number[]>()
  readonly #timer: NodeJS.Timeout

  constructor (private readonly pids: Record<string, number>) {
    this.#timer = setInterval(() => this.#sample(), sampleEveryMs)
  }

  end (): Growth[] {
    clearInterval(this.#timer)
    return [...this.#samples].map(([name, samples]) => growthOf(name, samples))
  }

  #sample (): void {
    for (const [name, pid] of Object.entries(this.pids)) {
      const bytes = [pid, ...childrenOf(pid)].reduce((sum, each) => sum + ownKilobytes(each), 0)
      this.#samples.set(name, [...this.#samples.get(name) ?? [], bytes / 1024])
    }
  }
}

export function growthOf (name: string, samples: number[]): Growth {
  const third = Math.ceil(samples.length / 3)
  const [first, last] = [low(samples.slice(0, third)), low(samples.slice(-third))]
  const isFlat = last - first <= Math.max(fair.mebibytes, first * fair.share)
  return { name, first, last, most: Math.max(...samples), isFlat }
}

const low = (samples: number[]) => percentile(samples, 0.1)

/** Anonymous memory: what a process shares with others, or can drop, is not counted. */
function ownKilobytes (pid: number): number {
  try {
    return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0 // it has ended
  }
}

/** Sessions of Postgres are processes of their own. */
function childrenOf (pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number))
  } catch {
    return []
  }
}
