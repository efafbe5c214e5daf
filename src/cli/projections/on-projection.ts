// Does to a projection what its operator asked for, and says what became of it.
import { hostname } from 'node:os'
import type { Action, OperationInput } from '../../../projections/operate/operations.js'
import { operate } from '../running/operation.js'
import { say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

/** Runs until it is done, or stopped by a signal. */
export async function onProjection (action: Action, name: string, input: OperationInput = {}): Promise<void> {
  const { projectionNamed } = await import('../../../projections/operate/projection-named.js')
  const projection = projectionNamed(name)
  const { operations } = await import('../../../projections/operate/operations.js')
  const holder = `${hostname()} ${process.pid} ${action}`
  const outcome = await operate(operations[action].stopped, (operation) =>
    withConnections(`ringledger projections ${action}`, ({ pool, consumerPool, streams }, log) =>
      operations[action].run(projection, { pool, consumerPool, streams, log, say, holder, ...operation }, input)))
  say(outcome)
}
