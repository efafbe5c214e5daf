// `ringledger projections quarantine resume NAME`: closes the circuit breaker, so that the projection goes on.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (quarantine: Command): void {
  quarantine.command('resume')
    .description('let a projection go on that stands still because it refused too many streams')
    .argument('<name>')
    .action(resumeProjection)
}

async function resumeProjection (name: string): Promise<void> {
  const [{ projectionNamed }, { closeBreaker }] = await Promise.all([
    import('../../../projections/operate/projection-named.js'), import('../../composition/ops/parked.js')
  ])
  const projection = projectionNamed(name)
  say(await withConnections('ringledger projections quarantine resume', (connections) => closeBreaker(connections, projection)))
}
