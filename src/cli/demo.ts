// `ringledger demo`: the main job on real input.
import type { Command } from 'commander'

export function register (program: Command): void {
  program.command('demo')
    .description('the main job on real input, start to end, in a temporary DATA_DIR')
    .action(async () => (await import('./demo/demo.js')).demo())
}
