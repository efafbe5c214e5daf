// `ringledger projections quarantine retry NAME STREAM`: projects what is parked of a stream, all of it or nothing.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (quarantine: Command): void {
  quarantine.command('retry')
    .description('project the parked events of a stream: all of them, or none')
    .argument('<name>', 'a projection, or `dispatcher`')
    .argument('<stream>')
    .action(retryParked)
}

async function retryParked (name: string, stream: string): Promise<void> {
  if (name === 'dispatcher') return await retryDispatcher(stream)
  const [{ projectionNamed }, { retryStream }] = await Promise.all([
    import('../projections/projection-named.js'), import('../../../projections/parking/reproject.js')
  ])
  const { events, generation } = await withConnections('ringledger projections quarantine retry',
    (connections) => retryStream(connections, projectionNamed(name), stream))
  say(`${events} events of ${stream} went into ${name} (generation ${generation}); ` +
    'none of its events is parked any more.')
}

/** Nothing is sent by it: what the dispatcher has to know of the stream is read again. */
async function retryDispatcher (stream: string): Promise<void> {
  const [{ retryParked }, { ParkingRefused, notParked }] = await Promise.all([
    import('../../../workers/dispatch/retry.js'), import('../../../projections/parking/parked-events.js')
  ])
  const outcome = await withConnections('ringledger projections quarantine retry', (connections) =>
    retryParked(connections, stream))
  if (outcome.refused !== undefined) throw new ParkingRefused(`${stream} stays parked, as it was: ${outcome.refused}`)
  if (outcome.events === 0) throw notParked('dispatcher', stream)
  say(`The dispatcher has read ${outcome.events} events of ${stream} again; none of its events is parked any more.`)
}
