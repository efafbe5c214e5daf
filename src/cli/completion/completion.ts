// `ringledger completion`: a script that completes commands and options in a shell.
import { Argument, type Command } from 'commander'
import type { Shell } from './scripts.js'

export function register (program: Command): void {
  program.command('completion')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .description('print what completes commands and options in a shell: eval "$(ringledger completion bash)"')
    .action(async (shell: Shell) => {
      const [{ scripts }, { placesOf }] = await Promise.all([import('./scripts.js'), import('./places.js')])
      process.stdout.write(scripts[shell](placesOf(program)))
    })
}
