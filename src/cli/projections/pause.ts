// `ringledger projections pause NAME` and `resume NAME`: stops the feeding of a projection, and lets it go on.
import type { Command } from 'commander'

export function register (projections: Command): void {
  projections.command('pause')
    .argument('<name>')
    .description('stop feeding a projection: readers see what they saw until it is resumed')
    .option('--json', 'for programs')
    .action((name: string, options: Options) => carryOut('pause', name, options))
  projections.command('resume')
    .argument('<name>')
    .description('let a paused projection go on where it stood')
    .option('--json', 'for programs')
    .action((name: string, options: Options) => carryOut('resume', name, options))
}

interface Options { json?: boolean }

async function carryOut (action: 'pause' | 'resume', name: string, options: Options): Promise<void> {
  const { onProjection } = await import('./on-projection.js')
  await onProjection(action, name, options)
}
