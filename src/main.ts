// The command line: find the command, run it, explain why it failed.
import { isatty } from 'node:tty'
import { commandLine } from './cli/commands.js'
import { isOfPostgres, postgresProblem } from './postgres/in-words.js'
import { addDotEnv } from './cli/dot-env.js'

/** Errors whose message is enough, because it says how to mend them. By name: their classes load half of the code. */
const refusals = [
  'BackEndUnreachable', 'BadDotEnv', 'DataDirInUseError', 'DataDirUnusable', 'NothingRuns', 'OtherLeadDigestKey', 'OtherLog',
  'OtherVersion', 'ParkingRefused', 'Rejection', 'ReplayRefused', 'RoleRuns', 'TransferRefused', 'UnknownProjection'
]

/** The commands that keep running, and log. */
const roles = ['start', 'api', 'projector', 'worker']
let logs = false
outliveTerminal()

const program = commandLine()
program.hook('preAction', (all, command) => {
  logs = command.parent === all && roles.includes(command.name()) && !process.stdout.isTTY
  addDotEnv(process.env) // a help text does without it
})

try {
  await program.parseAsync()
} catch (error) {
  const { printable } = await import('./cli/output.js')
  const text = printable(explain(error))
  process.stderr.write(logs ? asLogLine(text) : text)
  process.exitCode = 1
}

/** The text for a refusal is its message; for any other error LOG_LEVEL=debug adds the stack. */
function explain (error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}\n`
  if (error.name === 'Interrupted') return '' // the operator stopped it
  if (error.name === 'BadSettings') return `These settings are not right:\n${error.message.replaceAll(/^/gm, '  ')}\n`
  const messageIsEnough = refusals.includes(error.name) || process.env.LOG_LEVEL !== 'debug'
  const ofPostgres = isOfPostgres(error) ? postgresProblem(error) : undefined
  return messageIsEnough ? `ringledger: ${ofPostgres ?? error.message}\n` : `${error.stack ?? error.message}\n`
}

/** The text as a line of a log, for those who collect the output of a service. */
function asLogLine (text: string): string {
  const msg = text.trimEnd().replace(/^ringledger: /, '')
  return msg && `${JSON.stringify({ level: 60, time: Date.now(), msg })}\n`
}

/** Output is lost where the terminal closes (EIO) or `head` ends (EPIPE), but the command ends normally. */
function outliveTerminal (): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EIO' || error.code === 'EPIPE') return
      process.stderr.write(`ringledger: the output cannot be written: ${error.message}\n`)
      process.exit(1)
    })
  }
  const terminals = [0, 1, 2].filter((fd) => isatty(fd))
  process.on('exit', () => { if (terminals.some((fd) => !isatty(fd))) hangUp() })
}

/**
 * Dies of SIGHUP, like any program whose terminal closes. Otherwise Node tries to restore the terminal's settings,
 * fails an assertion because it is gone (`ResetStdio`), and may keep a core busy for ever.
 */
function hangUp (): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}
