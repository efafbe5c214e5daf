// `ringledger projections quarantine resume NAME`: closes the circuit breaker, so that the projection goes on.
import type { Command } from 'commander'
import { withConnections } from '../running/with-connections.js'
import { tellOutcome } from './outcome.js'

export function register (quarantine: Command): void {
  quarantine.command('resume')
    .description('let a projection go on that stands still because it refused too many streams')
    .argument('<name>')
    .option('--json', 'for programs')
    .action(resumeProjection)
}

async function resumeProjection (name: string, { json }: { json?: boolean }): Promise<void> {
  const [{ projectionNamed }, { closeBreaker }] = await Promise.all([
    import('../../../projections/operate/projection-named.js'), import('../../services/ops/parked.js')
  ])
  const projection = projectionNamed(name)
  const message = await withConnections('ringledger projections quarantine resume', (connections) =>
    closeBreaker(connections, projection))
  tellOutcome({ action: 'resume', projection: name }, message, json)
}
