// `ringledger projections quarantine retry NAME STREAM`: projects what is parked of a stream, all of it or nothing.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (quarantine: Command): void {
  quarantine.command('retry')
    .description('project the parked events of a stream: all of them, or none')
    .argument('<name>')
    .argument('<stream>')
    .action(retryParked)
}

async function retryParked (name: string, stream: string): Promise<void> {
  const [{ projectionNamed }, { retryStream }] = await Promise.all([
    import('../projections/projection-named.js'), import('../../../projections/parking/reproject.js')
  ])
  const { events, generation } = await withConnections('ringledger projections quarantine retry',
    (connections) => retryStream(connections, projectionNamed(name), stream))
  say(`${events} events of ${stream} went into ${name} (generation ${generation}); ` +
    'none of its events is parked any more.')
}
