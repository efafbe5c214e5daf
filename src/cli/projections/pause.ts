// `ringledger projections pause NAME` and `resume NAME`: stops the feeding of a projection, and lets it go on.
import type { Command } from 'commander'

export function register (projections: Command): void {
  projections.command('pause')
    .argument('<name>')
    .description('stop feeding a projection: readers see what they saw until it is resumed')
    .action((name: string) => carryOut('pause', name))
  projections.command('resume')
    .argument('<name>')
    .description('let a paused projection go on where it stood')
    .action((name: string) => carryOut('resume', name))
}

async function carryOut (action: 'pause' | 'resume', name: string): Promise<void> {
  const { onProjection } = await import('./on-projection.js')
  await onProjection(action, name)
}
