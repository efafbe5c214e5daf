// `ringledger projections drop NAME`: drops the generations that were kept.
import type { Command } from 'commander'
import { say } from '../running/output.js'
import { positive } from '../values.js'

export function register (projections: Command): void {
  projections.command('drop')
    .argument('<name>')
    .description('drop the generations that were retained')
    .option('--generation <n>', 'only this one, whatever its state; never the one that readers see', positive)
    .action(dropGenerations)
}

async function dropGenerations (name: string, { generation }: { generation?: number }): Promise<void> {
  const { projectionNamed } = await import('./projection-named.js')
  const projection = projectionNamed(name)
  const [{ onGenerations }, { drop }] = await Promise.all([
    import('./on-generations.js'), import('../../../projections/replay/drop.js')
  ])
  const stopped = 'The command was stopped: run it again to finish.'
  const dropped = await onGenerations('drop', stopped, (options) => drop(projection, generation, options))
  say(`Dropped of ${name}: generation ${dropped.join(', ')}.`)
}
