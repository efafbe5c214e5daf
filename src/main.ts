// The command line: find the command, run it, explain why it failed.
import { commandLine } from './cli/commands.js'
import { asLogLine, explain } from './cli/explain.js'
import { addDotEnv } from './settings/dot-env.js'

/** Those that run on and log. */
const roles = ['start', 'api', 'projector', 'worker']
let logs = false

const program = commandLine()
program.hook('preAction', (all, command) => {
  logs = command.parent === all && roles.includes(command.name()) && !process.stdout.isTTY
  addDotEnv(process.env) // a help text does without it
})

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(logs ? asLogLine(explain(error)) : explain(error))
  process.exitCode = 1
}
