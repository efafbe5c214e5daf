// `ringledger projections rollback NAME`: the former generation is what readers see again.
import type { Command } from 'commander'
import { say } from '../running/output.js'

export function register (projections: Command): void {
  projections.command('rollback')
    .argument('<name>')
    .description('swap the generation before back in, level with the present one')
    .action(rollBackProjection)
}

const stopped = 'The command was stopped; the swap is made all the same, by the next projector that can.'

async function rollBackProjection (name: string): Promise<void> {
  const { projectionNamed } = await import('./projection-named.js')
  const projection = projectionNamed(name)
  const [{ onGenerations }, { rollback }] = await Promise.all([
    import('./on-generations.js'), import('../../../projections/replay/rollback.js')
  ])
  const generation = await onGenerations('rollback', stopped, (options) => rollback(projection, options))
  say(`Readers of ${name} see generation ${generation} again. ` +
    `\`ringledger projections rollback ${name}\` goes back to the other one.`)
}
