// `ringledger projections verify NAME`: compares rows that readers see with what the log gives.
import type { Command } from 'commander'
import { positive } from '../values.js'

export function register (projections: Command): void {
  projections.command('verify')
    .argument('<name>')
    .description('compare a sample of the rows that readers see with the log')
    .option('--sample <n>', 'rows of each table', positive, 1_000)
    .option('--seed <n>', 'the same seed, the same sample', positive)
    .option('--json', 'for programs')
    .action(verifyProjection)
}

interface VerifyOptions { sample: number, seed?: number, json?: boolean }

async function verifyProjection (name: string, options: VerifyOptions): Promise<void> {
  const { onProjection } = await import('./on-projection.js')
  await onProjection('verify', name, options)
}
