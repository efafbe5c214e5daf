// Tells readers how far they can see.
import type { PoolClient } from 'pg'
import type { Projection } from './projection.js'

/** Carries `<projection> <position>` whenever readers can see more. */
export const checkpointChannel = 'ringledger_checkpoint'

/** How far readers can see, if this is the generation that they see. */
export const notifyReadersSql = (channel: string, position: string, name: string, generation: string) => `
  SELECT pg_notify(${channel}, ${position}) FROM ledger.generations
  WHERE projection = ${name} AND generation = ${generation} AND state = 'active' AND complete`

/**
 * Notifies how far readers can see, if this is the generation that they see. `tx` has moved the checkpoint, and a swap
 * holds it: so what is found here stays true until `tx` has committed.
 */
export async function notifyReaders (
  tx: PoolClient, { name }: Projection, generation: number, position: bigint
): Promise<void> {
  await tx.query(notifyReadersSql('$1', '$2', '$3', '$4'), [checkpointChannel, `${name} ${position}`, name, generation])
}
