// `ringledger projections replay NAME`: builds the next generation, verifies it, and waits until readers see it.
import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import { say } from '../running/output.js'

interface ReplayOptions {
  dryRun?: boolean
  acceptDifferences?: boolean
}

export function register (projections: Command): void {
  projections.command('replay')
    .argument('<name>')
    .description(
      'build a projection anew beside the present one, verify it, swap; goes on where an earlier one stopped')
    .option('--dry-run', 'only say what it would do')
    .option('--accept-differences', 'swap although rows differ from those that readers see')
    .action(replayProjection)
}

const stopped = 'The replay was stopped; readers see what they saw. ' +
  'Run the same command again to go on where it stands, or see `ringledger projections list`.'

async function replayProjection (name: string, { dryRun, acceptDifferences }: ReplayOptions): Promise<void> {
  const { projectionNamed } = await import('./projection-named.js')
  const projection = projectionNamed(name)
  if (dryRun) return await (await import('./replay-plan.js')).printReplayPlan(projection)
  const [{ onGenerations }, { replay }] = await Promise.all([
    import('./on-generations.js'), import('../../../projections/replay/replay.js')
  ])
  // Nearly all that a replay allocates is garbage soon. By default V8 lets a small heap grow to four times its use.
  setFlagsFromString('--heap-growing-percent=100')
  const began = Date.now()
  const generation = await onGenerations('replay', stopped, (options) =>
    replay(projection, { ...options, acceptDifferences }))
  const seconds = ((Date.now() - began) / 1000).toFixed(1)
  say(`Replayed ${name} in ${seconds} s; readers see generation ${generation} now. The former one is kept level for ` +
    `\`ringledger projections rollback ${name}\`, until \`ringledger projections drop ${name}\`.`)
}
