// Runs one generation of a projection: the rows of a batch, its checkpoint and the notification are one transaction.
import type { Pool, PoolClient } from 'pg'
import type { Consumer } from '../../src/subscriptions/run.js'
import { batchWriter } from './batch-writer.js'
import { checkpointOf, leaseOf } from '../replay/generations.js'
import type { Projection } from './projection.js'

/** Carries `<projection> <position>` whenever readers can see more. */
export const checkpointChannel = 'ringledger_checkpoint'

/** The generation as something that follows the log. */
export function generationConsumer (projection: Projection, generation: number, pool: Pool): Consumer {
  return {
    name: leaseOf(projection, generation),
    eventTypes: projection.eventTypes,
    async open () {
      const apply = await batchWriter(projection, pool, generation)
      return {
        checkpointTable: checkpointOf(projection, generation),
        async handle (tx, batch) {
          await apply(tx, batch)
          await notifyReaders(tx, projection, generation, batch.position)
        }
      }
    }
  }
}

/**
 * Notifies how far readers can see, if this is the generation that they see. `tx` has moved the checkpoint, and a swap
 * holds it: so what is found here stays true until `tx` has committed.
 */
export async function notifyReaders (
  tx: PoolClient, { name }: Projection, generation: number, position: bigint
): Promise<void> {
  await tx.query(`
    SELECT pg_notify($1, $2) FROM ledger.generations
    WHERE projection = $3 AND generation = $4 AND state = 'active'`,
  [checkpointChannel, `${name} ${position}`, name, generation])
}
