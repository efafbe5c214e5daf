// Watches from outside whether feeds get on: their checkpoints beside the store's head, each by a read of its own.
import { pause } from './lease.js'

/** How far a feed is. `lag` is in positions of the log; `lagSeconds` since the log went past it, as far as this process has seen. */
export interface FeedState {
  name: string
  position: bigint
  lag: bigint
  lagSeconds: number
  /** False when it stands still though the log went past it seconds ago. */
  isAlive: boolean
  /** False when it is seconds behind and does not come closer. */
  isKeepingUp: boolean
}

export interface Watch {
  /** As of the last look, at most seconds ago; none before the first one. */
  states (): FeedState[]
  stop (): Promise<void>
}

export interface Watched {
  head (): Promise<bigint>
  /** Checkpoints by name of the feed. */
  positions (): Promise<Map<string, bigint>>
  everyMs?: number
  /** A feed that the log went past is given this long, in milliseconds. */
  patienceMs?: number
}

interface Sample { at: number, head: bigint, position: bigint }

/** A feed that is further behind than these looks go back is only known to be so. */
const rememberedSamples = 3_600

/** Looks again and again; a look that fails says nothing about the feeds. */
export function watchFeeds ({ head, positions, everyMs = 1_000, patienceMs = 5_000 }: Watched): Watch {
  const feeds = new Map<string, Sample[]>()
  const stopping = new AbortController()
  const looking = lookUntil(stopping.signal)
  return {
    states: () => [...feeds].flatMap(([name, samples]) => judge(name, samples, patienceMs) ?? []),
    async stop () {
      stopping.abort()
      await looking
    }
  }

  async function lookUntil (signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await look().catch(() => {}) // which back end is away, others tell
      await pause(everyMs, signal)
    }
  }

  async function look (): Promise<void> {
    const at = performance.now()
    const [end, all] = await Promise.all([head(), positions()])
    for (const [name, position] of all) feeds.set(name, remember(feeds.get(name) ?? [], { at, head: end, position }, patienceMs))
  }
}

/** Those that the feed has not passed, and those that the next judgements look back to. */
function remember (samples: Sample[], newest: Sample, patienceMs: number): Sample[] {
  const since = newest.at - 2 * patienceMs
  return [...samples.filter(({ at, head }) => at >= since || head > newest.position), newest].slice(-rememberedSamples)
}

function judge (name: string, samples: Sample[], patienceMs: number): FeedState | undefined {
  const now = samples.at(-1)
  if (!now) return undefined
  const { position } = now
  const before = samples.findLast(({ at }) => at <= now.at - patienceMs)
  const passed = samples.find(({ head }) => head > position)
  const isLate = before !== undefined && before.head > position
  return {
    name,
    position,
    lag: lagOf(now),
    lagSeconds: passed ? (performance.now() - passed.at) / 1000 : 0,
    isAlive: !isLate || position > before.position,
    isKeepingUp: !isLate || lagOf(now) < lagOf(before)
  }
}

const lagOf = ({ head, position }: Sample) => head > position ? head - position : 0n
