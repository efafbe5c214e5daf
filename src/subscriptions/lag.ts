// Monitors whether subscriptions make progress: compares their checkpoints with the head of the log.
import type { Streams } from '../log/event-log.js'
import { pause, repeat } from '../timing.js'

export interface Lag {
  name: string
  position: bigint
  /** In positions of the log. Negative when the log has gone back: it is older than what was read of it. */
  lag: bigint
  /** Since the log passed it, as far as this process has seen. */
  lagSeconds: number
  /** False when it has not moved for seconds although the log is ahead. */
  isAlive: boolean
  /** False when it has lagged for seconds without catching up, or is ahead of the log. */
  isKeepingUp: boolean
}

export type LagMonitor = ReturnType<typeof monitorLag>

interface LagMonitorOptions {
  head (): Promise<bigint>
  positions (): Promise<Checkpoints>
  /** Called when one stands still although the log is ahead, which may be only by events it does not want. */
  lookNow? (): void
  everyMs?: number
  /** How long a subscription may lag, in milliseconds; twice as long after an outage. */
  toleranceMs?: number
}

type Checkpoints = ReadonlyArray<{ name: string, position: bigint }>

interface Sample {
  at: number
  /** No sample has failed since then. */
  unbrokenSince: number
  head: bigint
  position: bigint
}

/** Positions of the subscriptions when all were at the end of the log. */
interface Level {
  head: bigint
  positions: Checkpoints
  /** Samples that took these positions. After some they are read again, as a restored database goes back. */
  samples: number
}

/** How many samples may fail, or reuse the positions of an idle log. */
const stillSamples = 5

/** Beyond these samples, `lagSeconds` is only a lower bound. */
const mostSamples = 3_600

/**
 * Takes a sample every `everyMs`, half as often while all are at the end of the log. A failed sample says nothing about
 * the subscriptions, and they are not blamed for the outage: afterwards they have twice `toleranceMs`, as each must
 * find out that the back end is available again. While the log is idle and all are at its end, positions are rarely
 * read.
 */
export function monitorLag (options: LagMonitorOptions) {
  const { head, positions, lookNow = () => {}, everyMs = 2_000, toleranceMs = 5_000 } = options
  const samplesOf = new Map<string, Sample[]>()
  let unbrokenSince = performance.now()
  let level: Level | undefined
  let sampledAt = performance.now()
  let problem: unknown
  const stop = repeat(sample)
  /** As of the last successful sample; empty before the first one. */
  const lags = () => [...samplesOf].flatMap(([name, samples]) => lagOf(name, samples, toleranceMs) ?? [])
  return {
    lags,
    /** Like `lags`. @throws when no sample has succeeded for seconds */
    freshLags () {
      if (performance.now() - sampledAt <= stillSamples * everyMs) return lags()
      throw new Error('the log and the checkpoints could not be compared', { cause: problem })
    },
    stop
  }

  async function sample (signal: AbortSignal): Promise<void> {
    // Other checks report outages.
    await takeSamples().catch((error: unknown) => {
      unbrokenSince = performance.now() + toleranceMs
      problem = error
    })
    await pause(level ? 2 * everyMs : everyMs, signal)
  }

  async function takeSamples (): Promise<void> {
    const at = performance.now()
    if (!level || level.samples > stillSamples || await head() !== level.head) level = undefined
    const all = level?.positions ?? await positions() // before the head, so that no position is ahead of it
    const end = level?.head ?? await head()
    if (all.every(({ position }) => position === end)) {
      level ??= { head: end, positions: all, samples: 0 }
      level.samples += 1
    }
    let isStanding = false
    for (const { name, position } of all) {
      const samples = samplesOf.get(name) ?? []
      isStanding ||= position < end && position === samples.at(-1)?.position
      // Keeps those that it has not passed yet, and those that later results are compared with.
      const kept = samples.filter((sample) => sample.at >= at - 2 * toleranceMs || sample.head > position)
      samplesOf.set(name, [...kept, { at, unbrokenSince, head: end, position }].slice(-mostSamples))
    }
    if (isStanding) lookNow()
    sampledAt = performance.now()
  }
}

function lagOf (name: string, samples: Sample[], toleranceMs: number): Lag | undefined {
  const now = samples.at(-1)
  if (!now) return undefined
  const { position } = now
  const before = samples.findLast(({ at }) => at <= now.at - toleranceMs && at >= now.unbrokenSince)
  const passed = samples.find(({ head }) => head > position)
  const lag = now.head - position
  const isLate = before !== undefined && before.head > position
  return {
    name,
    position,
    lag,
    lagSeconds: passed ? (performance.now() - passed.at) / 1000 : 0,
    isAlive: !isLate || position > before.position,
    isKeepingUp: lag >= 0n && (!isLate || lag < before.head - before.position)
  }
}

/** Counting reads the events: an exact number beyond this is not worth its cost. */
const mostCounted = 10_000
const countWithinMs = 1_000

/**
 * Counts the events that a subscription at `position` still has to take, as positions mean something else in each event
 * store, and the seconds that the oldest of them has waited.
 */
export async function behindLog (
  streams: Pick<Streams, 'follow'>, { position, head }: { position: bigint, head: bigint }, eventTypes: readonly string[]
) {
  if (position >= head) return { events: 0, isExact: true, seconds: 0 }
  const late = AbortSignal.timeout(countWithinMs)
  let events = 0
  let oldest: Date | undefined
  for await (const batch of streams.follow({ after: position, eventTypes, signal: late })) {
    const waiting = batch.events.filter((event) => event.position <= head)
    oldest ??= waiting[0]?.created
    events += waiting.length
    if (batch.position >= head) return { events, isExact: true, seconds: secondsSince(oldest) }
    if (events >= mostCounted) break
  }
  return { events, isExact: false, seconds: secondsSince(oldest) }
}

const secondsSince = (time: Date | undefined) => time ? Math.max(0, (Date.now() - time.getTime()) / 1_000) : 0
