// The command line: find the command, run it, explain why it failed.
import { Command } from 'commander'
import { addCommands } from './cli/commands.js'
import { asLogLine, explain } from './cli/explain.js'
import { packageVersion } from './package-root.js'
import { addDotEnv } from './settings/dot-env.js'

/** Those that run on and log. */
const roles = ['start', 'api', 'projector', 'worker']
let logs = false

const program = new Command('ringledger')
  .description('Event-sourced backend of a voice-calling product. Settings come from the environment and from .env: see .env.example.')
  .version(packageVersion)
  .showHelpAfterError()
  .hook('preAction', (all, command) => {
    logs = command.parent === all && roles.includes(command.name()) && !process.stdout.isTTY
    addDotEnv(process.env) // a help text does without it
  })

await addCommands(program)

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(logs ? asLogLine(explain(error)) : explain(error))
  process.exitCode = 1
}
