// `ringledger projections replay NAME`: builds the next generation, verifies it, and waits until readers see it.
import type { Command } from 'commander'

interface ReplayOptions {
  dryRun?: boolean
  acceptDifferences?: boolean
  json?: boolean
}

export function register (projections: Command): void {
  projections.command('replay')
    .argument('<name>')
    .description(
      'build a projection anew beside the present one, verify it, swap; goes on where an earlier one stopped')
    .option('--dry-run', 'only say what it would do')
    .option('--accept-differences', 'swap although rows differ from those that readers see')
    .option('--json', 'for programs')
    .action(replayProjection)
}

async function replayProjection (name: string, { dryRun, acceptDifferences, json }: ReplayOptions): Promise<void> {
  if (dryRun) return await (await import('./replay-plan.js')).printReplayPlan(name, json)
  const { onProjection } = await import('./on-projection.js')
  await onProjection('replay', name, { acceptDifferences, ...(json && { json }) })
}
