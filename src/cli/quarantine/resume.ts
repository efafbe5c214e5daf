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
  const [{ projectionNamed }, { closeBreakers }, { ParkingRefused }] = await Promise.all([
    import('../projections/projection-named.js'),
    import('../../../projections/parking/circuit-breaker.js'),
    import('../../../projections/parking/parked-events.js')
  ])
  const closed = await withConnections('ringledger projections quarantine resume',
    ({ pool }) => closeBreakers(pool, projectionNamed(name)))
  if (closed === 0) throw new ParkingRefused(`${name} does not stand still: its circuit breaker is closed`)
  say(`${name} goes on within seconds, and parks what it refuses.`)
}
