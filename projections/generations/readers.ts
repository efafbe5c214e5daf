// Tells readers how far they can see.
import type { PoolClient } from 'pg'
import { schemaOf } from './generations.js'
import type { Projection } from '../engine/projection.js'

/** Carries `<projection> <position>` whenever readers can see more, and ` parked` where rows lack what events say. */
export const checkpointChannel = 'ringledger_checkpoint'

/** Told when somebody waits in vain: a subscription that has heard nothing for long looks at the log itself. */
export const awaitedChannel = 'ringledger_awaited'

/** The name of the projection and a position, as readers are told them. */
export const told = (name: string, position: bigint, hasSetApart: boolean) =>
  `${name} ${position}${hasSetApart ? parked : ''}`

const parked = ' parked'

/** Whether an event of the generation is parked, or was skipped. */
export const hasSetApartSql = (schema: string, name: string) => `(
  EXISTS (SELECT FROM ledger.parked_events WHERE consumer = ${schema})
  OR EXISTS (SELECT FROM ledger.skipped_events WHERE projection = ${name}))`

/** How far readers can see, if this is the generation that they see. */
export const notifyReadersSql = (channel: string, payload: string, name: string, generation: string) => `
  SELECT pg_notify(${channel}, ${payload}) FROM ledger.generations
  WHERE projection = ${name} AND generation = ${generation} AND state = 'active' AND complete`

/**
 * Notifies how far readers can see, if this is the generation that they see. `tx` has moved the checkpoint, and a swap
 * holds it: so what is found here stays true until `tx` has committed.
 */
export async function notifyReaders (
  tx: PoolClient, projection: Projection, generation: number, position: bigint
): Promise<void> {
  const { name } = projection
  const payload = `$2 || CASE WHEN ${hasSetApartSql('$5', '$3')} THEN '${parked}' ELSE '' END`
  const values = [checkpointChannel, told(name, position, false), name, generation, schemaOf(projection, generation)]
  await tx.query(notifyReadersSql('$1', payload, '$3', '$4'), values)
}
