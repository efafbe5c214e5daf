// Replays a projection: a new generation is built beside the one that readers see, verified, and swapped in.
import type { Projection } from '../projection.js'
import { awaitSwap } from './await-swap.js'
import { beginReplay } from './begin.js'
import { build, type BuildOptions } from './build.js'

/**
 * Goes on where an earlier replay of the same code was broken off. The former generation is retained.
 * @returns the generation that readers see now
 * @throws ReplayRefused; then readers see what they saw
 */
export async function replay (projection: Projection, options: BuildOptions): Promise<number> {
  const plan = await beginReplay(projection, options.pool)
  const { generation, kind } = plan
  if (kind === 'resume') options.say?.(`Generation ${generation} of ${projection.name} was begun earlier: going on with it.`)
  if (kind !== 'wait') await build(projection, plan, options)
  await awaitSwap(projection, generation, options)
  return generation
}
