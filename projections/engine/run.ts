// Runs one generation of a projection: the rows of a batch, its checkpoint and the notification are one transaction.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Consumer, OpenConsumer } from '../../src/subscriptions/consumer.js'
import { AtOnce } from './at-once.js'
import { batchWriter, refusalOf } from './batch-writer.js'
import { fillFirst } from '../fill/first-fill.js'
import { checkpointOf, leaseOf } from '../generations/generations.js'
import { markComplete } from '../generations/complete.js'
import type { Projection } from './projection.js'
import { notifyReaders } from '../generations/readers.js'

/** The generation as something that follows the log. */
export function generationConsumer (projection: Projection, generation: number, pool: Pool): Consumer {
  return {
    name: leaseOf(projection, generation),
    eventTypes: projection.eventTypes,
    isUnhurried: projection.isUnhurried,
    open: () => openGeneration(projection, generation, pool)
  }
}

/** Readers see the generation from the transaction on that takes it past `completeAt`. */
async function openGeneration (projection: Projection, generation: number, pool: Pool): Promise<OpenConsumer> {
  const { apply, isBreakerOpen } = await batchWriter(projection, pool, generation)
  const atOnce = new AtOnce(projection, generation, pool)
  let completeAt: bigint | undefined
  const arrive = async (tx: PoolClient, position: bigint) => {
    if (completeAt !== undefined && position >= completeAt) await markComplete(tx, projection, generation)
    await notifyReaders(tx, projection, generation, position)
  }
  const arrived = (position: bigint) => {
    if (completeAt !== undefined && position >= completeAt) completeAt = undefined
  }
  return {
    checkpointTable: checkpointOf(projection, generation),
    async fill (holder) {
      const filled = await fillFirst(projection, generation, pool, holder)
      const { position } = filled
      completeAt = filled.completeAt
      if (completeAt === undefined || position < completeAt) return position
      await inTransaction(pool, (tx) => arrive(tx, position))
      arrived(position)
      return position
    },
    async writeAtOnce (batch, from, epoch) {
      if (completeAt !== undefined || isBreakerOpen()) return false
      return await atOnce.write(batch, from, epoch).catch((error: unknown) => { throw refusalOf(error, batch.events) })
    },
    async handle (tx, batch, isApart) {
      await apply(tx, batch, isApart)
      await arrive(tx, batch.position)
    },
    committed: ({ position }) => arrived(position)
  }
}
