// The command line: find the command, run it, explain why it failed.
import { Command } from 'commander'
import { addCommands } from './cli/commands.js'
import { explain } from './cli/explain.js'
import { packageVersion } from './package-root.js'

const program = new Command('ringledger')
  .description('Event-sourced backend of a voice-calling product. Settings come from the environment: see .env.example.')
  .version(packageVersion)
  .showHelpAfterError()

await addCommands(program)

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(explain(error))
  process.exitCode = 1
}
