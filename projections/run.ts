// Runs a projection: a batch's rows, its checkpoint and the word that it moved are one transaction.
import type { Pool } from 'pg'
import type { Consumer } from '../src/consumer/run.js'
import { batchWriter } from './batch-writer.js'
import { activeGeneration, checkpointOf } from './generations.js'
import type { Projection } from './projection.js'

/** Carries `<projection> <position>` whenever readers can see more. */
export const checkpointChannel = 'ringledger_checkpoint'

/** The projection as something that follows the log, on whichever generation is active when it starts. */
export function projectionConsumer (projection: Projection, pool: Pool): Consumer {
  return {
    name: `projection ${projection.name}`,
    eventTypes: projection.eventTypes,
    async open () {
      const generation = await activeGeneration(pool, projection)
      const apply = await batchWriter(projection, pool, generation)
      return {
        checkpointTable: checkpointOf(projection, generation),
        async handle (tx, batch) {
          await apply(tx, batch)
          await tx.query('SELECT pg_notify($1, $2)', [checkpointChannel, `${projection.name} ${batch.position}`])
        }
      }
    }
  }
}
