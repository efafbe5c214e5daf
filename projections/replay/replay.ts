// Replays a projection: a new generation is built beside the one that readers see, verified, and swapped in.
import type { Projection } from '../engine/projection.js'
import { awaitSwap } from './await-swap.js'
import { beginReplay } from './begin.js'
import { build, type BuildOptions } from './build.js'
import { BrokenOff, ReplayRefused } from '../generations/refused.js'

/**
 * Goes on where an earlier replay of the same code was broken off. The former generation is retained.
 * @returns the generation that readers see now
 * @throws ReplayRefused, or BrokenOff when a back end fails for longer than is waited for; then readers see what they
 * saw
 */
export async function replay (projection: Projection, options: BuildOptions): Promise<number> {
  try {
    return await carryOut(projection, options)
  } catch (error) {
    if (options.signal.aborted || error instanceof ReplayRefused || !(error instanceof Error)) throw error
    throw new BrokenOff(`The replay of ${projection.name} broke off: ${error.message}
Readers see what they saw. Run the same command again: it goes on where it stands.`, { cause: error })
  }
}

async function carryOut (projection: Projection, options: BuildOptions): Promise<number> {
  const plan = await beginReplay(projection, options.pool)
  const { generation, kind } = plan
  const name = `Generation ${generation} of ${projection.name}`
  if (kind === 'resume') options.say?.(`${name} was begun earlier: going on with it.`)
  if (kind !== 'wait') await build(projection, plan, options)
  await awaitSwap(projection, generation, options)
  return generation
}
