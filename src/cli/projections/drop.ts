// `ringledger projections drop NAME`: drops the generations that were kept.
import type { Command } from 'commander'
import { positive } from '../values.js'

export function register (projections: Command): void {
  projections.command('drop')
    .argument('<name>')
    .description('drop the generations that were retained')
    .option('--generation <n>', 'only this one, whatever its state; never the one that readers see', positive)
    .option('--json', 'for programs')
    .action(async (name: string, options: { generation?: number, json?: boolean }) => {
      const { onProjection } = await import('./on-projection.js')
      await onProjection('drop', name, options)
    })
}
