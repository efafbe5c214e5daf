// `ringledger demo`: the main job on real input.
import type { Command } from 'commander'

export function register (program: Command): void {
  program.command('demo')
    .description('the main job on real input, start to end, in a temporary DATA_DIR')
    .option('--json', 'for programs: every step, at its end')
    .action(async (options: { json?: boolean }) => (await import('./demo/demo.js')).demo(options))
}
