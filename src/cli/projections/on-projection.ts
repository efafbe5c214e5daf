// Does to a projection what its operator asked for, and says what became of it.
import { hostname } from 'node:os'
import type { Action, OperationInput } from '../../../projections/operate/operations.js'
import { operate } from '../running/operation.js'
import { printJson, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

/** For programs it is said on stdout, in the form of `/ops/api/actions`; what fails is told on stderr all the same. */
export interface Asked extends OperationInput { json?: boolean }

/** Runs until it is done, or stopped by a signal. */
export async function onProjection (action: Action, name: string, { json, ...input }: Asked = {}): Promise<void> {
  const { projectionNamed } = await import('../../../projections/operate/projection-named.js')
  const projection = projectionNamed(name)
  const { operations } = await import('../../../projections/operate/operations.js')
  const holder = `${hostname()} ${process.pid} ${action}`
  const outcome = await operate(operations[action].stopped, (operation) =>
    withConnections(`ringledger projections ${action}`, ({ pool, consumerPool, streams }, log) =>
      operations[action].run(
        projection, { pool, consumerPool, streams, log, say, holder, showsValues: true, ...operation }, input)))
  if (json) printJson({ action, projection: name, state: 'done', message: outcome })
  else say(outcome)
}
