// Runs the long work of a command on the generations of a projection.
import { hostname } from 'node:os'
import type { OperationOptions } from '../../../projections/replay/options.js'
import { operate } from '../running/operation.js'
import { say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

/** Runs `work` until it is done, or stopped by a signal; `stopped` says to the operator what that means. */
export async function onGenerations<Result> (
  command: string, stopped: string, work: (options: OperationOptions) => Promise<Result>
): Promise<Result> {
  const holder = `${hostname()} ${process.pid} ${command}`
  return await operate(stopped, (operation) =>
    withConnections(`ringledger projections ${command}`, ({ pool, consumerPool, streams }, log) =>
      work({ pool, consumerPool, streams, log, say, holder, ...operation })))
}
