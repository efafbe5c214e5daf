// Runs one generation of a projection as something that follows the log.
import type { Pool } from 'pg'
import type { Consumer } from '../../src/subscriptions/consumer.js'
import { fillFirst } from './fill.js'
import { checkpointOf, leaseOf, schemaOf, isFed, type Generation, lookAtGenerations } from './generations.js'
import { CircuitBreaker } from './circuit-breaker.js'
import type { Projection } from './projection.js'
import { Writer } from './writer.js'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import { beat } from '../../src/timing.js'
import { runSubscription, type RunOptions } from '../../src/subscriptions/run.js'
import { swap } from './swap.js'

export function generationConsumer (projection: Projection, generation: number, pool: Pool): Consumer {
  return {
    name: leaseOf(projection, generation),
    eventTypes: projection.eventTypes,
    isDeferred: projection.isDeferred,
    async open () {
      const breaker = await CircuitBreaker.load(pool, schemaOf(projection, generation))
      const refuse = breaker.refuse.bind(breaker)
      const writer = new Writer(projection, generation, pool, { refuse })
      return {
        checkpointTable: checkpointOf(projection, generation),
        fill: (holder) => fillFirst(projection, generation, pool, { ...holder, refuse }),
        async write (batch, from, epoch) {
          await writer.write(batch, from, epoch)
          await breaker.passed(batch.position)
        }
      }
    }
  }
}

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
  let isFailing = false
  while (!signal.aborted) {
    let isSwapDue = false
    try {
      const generations = await lookAtGenerations(pool, projection.name)
      await feedOnly(generations.filter((each) => isFed(projection, each)))
      isSwapDue = generations.some(({ state }) => state === 'ready')
      await swapIfDue(projection, generations, options)
      isFailing = false
    } catch (error) {
      const details = { projection: projection.name, err: error }
      if (!isFailing) log.warn(details, 'the generations could not be read, trying again')
      isFailing = true
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
