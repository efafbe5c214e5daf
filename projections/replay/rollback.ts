// Leads readers back to the generation that they saw before.
import { leaseHolder } from '../../src/subscriptions/lease-row.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { changeState, generationsOf, leaseOf, lockGenerations, type Generation } from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import { awaitSwap } from './await-swap.js'
import type { OperationOptions } from './options.js'
import { ReplayRefused } from '../generations/refused.js'

/**
 * Swaps the newest retained generation in as a replay does: level with the active one, which is retained then.
 * @returns the generation that readers see now
 * @throws ReplayRefused when there is none, or no process can bring it level
 */
export async function rollback (projection: Projection, options: OperationOptions): Promise<number> {
  const { pool } = options
  const target = await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    const found = targetOf(projection, await generationsOf(tx, projection))
    const feeder = await leaseHolder(pool, leaseOf(projection, found.generation))
    const isFed = found.codeVersion === projection.version || feeder !== undefined
    if (!isFed) throw new ReplayRefused(stale(projection, found))
    await changeState(tx, projection, found.generation, 'retained', 'ready')
    return found
  })
  await awaitSwap(projection, target.generation, options)
  return target.generation
}

function targetOf ({ name }: Projection, generations: readonly Generation[]): Generation {
  const active = generations.find(({ state }) => state === 'active')
  const next = generations.find(({ state }) => state === 'building' || state === 'ready')
  const isGoingBack = next?.state === 'ready' && active && next.generation < active.generation // a rollback broke off
  if (next && !isGoingBack) throw new ReplayRefused(isUnderWay(name, next))
  const target = next ?? generations.findLast(({ state }) => state === 'retained')
  if (!target) throw new ReplayRefused(`There is no retained generation of ${name} to go back to.`)
  return target
}

function isUnderWay (name: string, { generation, state }: Generation): string {
  const drop = `ringledger projections drop ${name} --generation ${generation}`
  return `Generation ${generation} of ${name} is ${state}: let its replay end, or give it up with \`${drop}\`.`
}

function stale ({ name, version }: Projection, { generation, codeVersion }: Generation): string {
  return `Generation ${generation} of ${name} was folded by version ${codeVersion} of its code, ` +
    'and no projector of that version runs: it stands still, and readers would go back in time. ' +
    `This release has version ${version}.\n` +
    `Start a projector of the release that has version ${codeVersion}, ` +
    'then run this command again, with either release.'
}
