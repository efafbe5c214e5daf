// Waits until readers see a generation that is ready, and does the projector's part where none runs.
import type { Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease-row.js'
import { pause } from '../../src/timing/pause.js'
import { feedGenerations } from '../engine/feed.js'
import { generationsOf, leaseOf, type Generation } from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import type { OperationOptions } from './options.js'
import { ReplayRefused } from '../generations/refused.js'

const mostPauseMs = 200

/**
 * A projector of this code takes the generation over, brings it level and swaps. While none runs, the generation is fed
 * from here; it is swapped from here only when no process feeds the active one either.
 * @throws ReplayRefused when the generation is given up meanwhile
 */
export async function awaitSwap (projection: Projection, generation: number, options: OperationOptions): Promise<void> {
  const { consumerPool: pool, streams, holder, log, signal, leaseTimes, checkEveryMs } = options
  const done = new AbortController()
  const feeding = feedGenerations(projection, {
    pool, streams, holder, yields: true, log, leaseTimes, checkEveryMs, signal: AbortSignal.any([signal, done.signal])
  })
  options.onProgress?.({ doing: 'swap', events: 0 })
  try {
    await untilActive(projection, generation, options)
  } finally {
    done.abort()
    await feeding
  }
}

async function untilActive (projection: Projection, generation: number, options: OperationOptions): Promise<void> {
  const { consumerPool: pool, signal, checkEveryMs = mostPauseMs, say } = options
  for (let isExplained = false; ; await pause(Math.min(checkEveryMs, mostPauseMs), signal)) {
    signal.throwIfAborted()
    const generations = await generationsOf(pool, projection).catch(() => undefined) // Postgres restarts
    const state = generations?.find((each) => each.generation === generation)?.state
    if (state === 'active') return
    if (generations && state !== 'ready') {
      throw new ReplayRefused(`Generation ${generation} of ${projection.name} was given up meanwhile.`)
    }
    const active = generations?.find((each) => each.state === 'active')
    const reason = active && !isExplained ? await whyItWaits(projection, generation, active, pool) : undefined
    if (reason === undefined) continue
    say?.(reason)
    isExplained = true
  }
}

async function whyItWaits (
  projection: Projection, generation: number, active: Generation, pool: Pool
): Promise<string | undefined> {
  if (active.pausedSince) return waitsForResume(projection, generation)
  return await isFedByOtherCode(projection, active, pool) ? waitsForRelease(projection, generation, active) : undefined
}

async function isFedByOtherCode (projection: Projection, active: Generation, pool: Pool): Promise<boolean> {
  if (active.codeVersion === projection.version) return false
  const holder = await leaseHolder(pool, leaseOf(projection, active.generation)).catch(() => undefined)
  return holder !== undefined
}

function waitsForResume ({ name }: Projection, generation: number): string {
  return `Generation ${generation} of ${name} is ready, and ${name} is paused: it is swapped in after ` +
    `\`ringledger projections resume ${name}\`.`
}

function waitsForRelease ({ name, version }: Projection, generation: number, { codeVersion }: Generation): string {
  return `Generation ${generation} of ${name} is ready. ` +
    `The projector that runs has version ${codeVersion} of the code; the first one with version ${version} swaps.\n` +
    'This command keeps the generation level until then; it may be stopped, which costs nothing.'
}
