// Drops generations that readers do not see.
import { leaseHolder } from '../../src/subscriptions/lease-row.js'
import { pause } from '../../src/timing/pause.js'
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import {
  changeState, generationsOf, leaseOf, lockGenerations, removeGeneration, type Generation
} from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import type { OperationOptions } from './options.js'
import { ReplayRefused } from '../generations/refused.js'

type DropOptions = Pick<OperationOptions, 'pool' | 'signal'>

/** A projector looks once a second which generations it feeds; a dead one's lease is over within four. */
const releasedWithinMs = 10_000

/**
 * Drops the generation named, or all retained ones; also what an earlier call has begun to drop.
 * @returns those that were dropped
 * @throws ReplayRefused for the active one, for one that a replay builds just now, and where there is nothing to drop
 */
export async function drop (
  projection: Projection, wanted: number | undefined, options: DropOptions
): Promise<number[]> {
  const { pool } = options
  const chosen = await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    const found = choose(projection, await generationsOf(tx, projection), wanted)
    for (const each of found) await beginDrop(tx, projection, each, pool)
    return found
  })
  for (const { generation } of chosen) {
    await awaitRelease(projection, generation, options)
    await inTransaction(pool, async (tx) => {
      await removeGeneration(tx, projection, generation)
    })
  }
  return chosen.map(({ generation }) => generation)
}

async function beginDrop (
  tx: PoolClient, projection: Projection, { generation, state }: Generation, pool: Pool
): Promise<void> {
  const name = `Generation ${generation} of ${projection.name}`
  const builder = state === 'building' ? await leaseHolder(pool, leaseOf(projection, generation)) : undefined
  if (builder !== undefined) {
    throw new ReplayRefused(`${name} is being built just now, by ${builder}: stop that replay first.`)
  }
  if (await changeState(tx, projection, generation, state, 'dropping')) return
  throw new ReplayRefused(`${name} is no longer ${state}: look again.`)
}

function choose (
  { name }: Projection, generations: readonly Generation[], wanted: number | undefined
): Generation[] {
  if (wanted === undefined) {
    const all = generations.filter(({ state }) => state === 'retained' || state === 'dropping')
    if (all.length === 0) throw new ReplayRefused(`There is no retained generation of ${name}.`)
    return all
  }
  const one = generations.find(({ generation }) => generation === wanted)
  if (!one) throw new ReplayRefused(`There is no generation ${wanted} of ${name}: see \`ringledger projections list\`.`)
  if (one.state === 'active') {
    throw new ReplayRefused(`Readers see generation ${wanted} of ${name}: it cannot be dropped.`)
  }
  return [one]
}

/** Waits until no process feeds it any more. */
async function awaitRelease (
  projection: Projection, generation: number, { pool, signal }: DropOptions
): Promise<void> {
  const name = leaseOf(projection, generation)
  const giveUpAt = performance.now() + releasedWithinMs
  for (let holder = await leaseHolder(pool, name); holder !== undefined; holder = await leaseHolder(pool, name)) {
    signal.throwIfAborted()
    if (performance.now() > giveUpAt) {
      const held = `generation ${generation} of ${projection.name}`
      throw new ReplayRefused(`${holder} does not release ${held}: end it, then run this command again.`)
    }
    await pause(100, signal)
  }
}
