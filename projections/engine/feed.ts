// Feeds every generation of a projection that its code has folded, each by itself, and swaps in those that are ready.
import { leaseHolder } from '../../src/subscriptions/lease-row.js'
import { beat } from '../../src/timing/beat.js'
import { runSubscription, type RunOptions } from '../../src/subscriptions/run.js'
import { isFed, leaseOf, type Generation } from '../generations/generations.js'
import type { Projection } from './projection.js'
import { generationConsumer } from './run.js'
import { lookAtGenerations } from '../generations/look-at-generations.js'
import { swap } from '../generations/swap.js'

export interface FeedOptions extends RunOptions {
  /** Between two look-ups of which generations there are, in milliseconds. */
  checkEveryMs?: number | undefined
}

const usualCheckEveryMs = 1_000
/** While a generation is ready. */
const swapEveryMs = 200

interface Feeding {
  stop: AbortController
  running: Promise<void>
}

/**
 * Runs until `options.signal` is aborted, and never gives up. Generations of other code are left alone: their
 * rows would become a mixture. With `yields` it fills in for a projector: it gives way to one, and swaps only while no
 * projector runs.
 */
export async function feedGenerations (projection: Projection, options: FeedOptions): Promise<void> {
  const { pool, signal, log, checkEveryMs = usualCheckEveryMs } = options
  const fed = new Map<number, Feeding>()
  while (!signal.aborted) {
    let isSwapDue = false
    try {
      const generations = await lookAtGenerations(pool, projection.name)
      await feedOnly(generations.filter((each) => isFed(projection, each)))
      isSwapDue = generations.some(({ state }) => state === 'ready')
      await swapIfDue(projection, generations, options)
    } catch (error) {
      log.warn({ projection: projection.name, err: error }, 'the generations could not be read, trying again')
    }
    await beat(isSwapDue ? Math.min(swapEveryMs, checkEveryMs) : checkEveryMs, signal)
  }
  await feedOnly([])

  async function feedOnly (wanted: Generation[]): Promise<void> {
    for (const { generation } of wanted) if (!fed.has(generation)) fed.set(generation, start(generation))
    for (const [generation, { stop, running }] of fed) {
      if (wanted.some((each) => each.generation === generation)) continue
      stop.abort()
      await running
      fed.delete(generation)
    }
  }

  function start (generation: number): Feeding {
    const stop = new AbortController()
    const each = { ...options, signal: AbortSignal.any([signal, stop.signal]) }
    return { stop, running: runSubscription(generationConsumer(projection, generation, pool), each) }
  }
}

/** Only the process that feeds the next generation swaps it in, so that feeding goes on without a pause. */
async function swapIfDue (
  projection: Projection, generations: Generation[], { pool, holder, yields, log }: RunOptions
): Promise<void> {
  const active = generations.find(({ state }) => state === 'active')
  const ready = generations.find(({ state }) => state === 'ready')
  if (!active || ready?.codeVersion !== projection.version) return
  const holderOf = ({ generation }: Generation) => leaseHolder(pool, leaseOf(projection, generation))
  const [feeder, projector] = await Promise.all([holderOf(ready), holderOf(active)])
  if (feeder !== holder || (yields && projector !== undefined && projector !== holder)) return
  const change = { from: active.generation, to: ready.generation }
  if (!await swap(projection, change, pool)) return
  log.info({ projection: projection.name, ...change }, 'readers see another generation')
}
