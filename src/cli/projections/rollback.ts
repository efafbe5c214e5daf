// `ringledger projections rollback NAME`: the former generation is what readers see again.
import type { Command } from 'commander'

export function register (projections: Command): void {
  projections.command('rollback')
    .argument('<name>')
    .description('swap the generation before back in, level with the present one')
    .option('--json', 'for programs')
    .action(async (name: string, options: { json?: boolean }) => {
      const { onProjection } = await import('./on-projection.js')
      await onProjection('rollback', name, options)
    })
}
