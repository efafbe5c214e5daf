// `ringledger projections quarantine skip NAME STREAM REVISION`: gives one event up, and goes on with its stream.
import type { Command } from 'commander'
import type { Reprojected } from '../../../projections/parking/reproject.js'
import { printable, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'
import { revisionNumber } from '../values.js'

export function register (quarantine: Command): void {
  quarantine.command('skip')
    .description('give one event up for good, in rebuilds too, and go on with its stream')
    .argument('<name>', 'a projection, or `dispatcher`')
    .argument('<stream>')
    .argument('<revision>', 'of the event', revisionNumber)
    .requiredOption('--reason <text>', 'why, for those who come later')
    .action(skipParked)
}

async function skipParked (
  name: string, stream: string, revision: bigint, { reason }: { reason: string }
): Promise<void> {
  if (name === 'dispatcher') return await skipOfDispatcher(stream, revision, reason)
  const [{ projectionNamed }, { skipEvent }] = await Promise.all([
    import('../projections/projection-named.js'), import('../../../projections/parking/reproject.js')
  ])
  const outcome = await withConnections('ringledger projections quarantine skip',
    (connections) => skipEvent(connections, projectionNamed(name), stream, revision, reason))
  say(`${name} skips ${stream}@${revision} from now on, in rebuilds too. ${whatBecame(outcome)}`)
}

async function skipOfDispatcher (stream: string, revision: bigint, reason: string): Promise<void> {
  const [{ skipParked }, { notParked }] = await Promise.all([
    import('../../../workers/dispatch/retry.js'), import('../../../projections/parking/parked-events.js')
  ])
  const isSkipped = await withConnections('ringledger projections quarantine skip', ({ pool }) =>
    skipParked(pool, stream, revision, reason))
  if (!isSkipped) throw notParked('dispatcher', stream, revision)
  say(`The dispatcher goes on without ${stream}@${revision}.`)
}

function whatBecame ({ events, parked, refused }: Reprojected): string {
  if (refused !== undefined) return `${parked} events of the stream stay parked: ${printable(refused)}`
  return events === 0 ? 'No event of the stream was parked.' : 'No event of the stream is parked any more.'
}
