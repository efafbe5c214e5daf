// Where a replay begins: with a new generation, or with the one that an earlier replay has left.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { createGeneration, generationsOf, lockGenerations, type Generation } from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import { ReplayRefused } from '../generations/refused.js'

export interface Plan {
  active: Generation
  /** The number of the generation that is to be built. */
  generation: number
  /** `begin` at the start of the log, `resume` where a replay stopped, `wait` for the swap of a ready generation. */
  kind: 'begin' | 'resume' | 'wait'
}

/** What a replay has to do as things are. @throws ReplayRefused */
export function planReplay ({ name, version }: Projection, generations: readonly Generation[]): Plan {
  const active = generations.find(({ state }) => state === 'active')
  if (!active) throw new Error(`${name} has no active generation`)
  const next = generations.find(({ state }) => state === 'building' || state === 'ready')
  if (!next) return { active, generation: 1 + Math.max(...generations.map((each) => each.generation)), kind: 'begin' }
  const { generation, state, codeVersion } = next
  if (generation < active.generation) {
    throw new ReplayRefused(`A rollback of ${name} to generation ${generation} is under way: wait for its end.`)
  }
  if (codeVersion === version) return { active, generation, kind: state === 'ready' ? 'wait' : 'resume' }
  const found = `Generation ${generation} of ${name} is ${state}, by version ${codeVersion} of its code`
  throw new ReplayRefused(`${found}; this is version ${version}. ` +
    'Run the replay of that release to its end, or give the generation up:\n' +
    `  ringledger projections drop ${name} --generation ${generation}`)
}

/** Makes the empty tables of the plan's generation. Two processes that begin at once get the same generation. */
export async function beginReplay (projection: Projection, pool: Pool): Promise<Plan> {
  return await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    const plan = planReplay(projection, await generationsOf(tx, projection))
    if (plan.kind === 'begin') await createGeneration(tx, projection, plan.generation, 'building')
    return plan
  })
}
