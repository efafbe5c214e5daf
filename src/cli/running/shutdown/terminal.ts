// A terminal that is closed under a command: what is said to it is lost, and the command ends as ever.

/** EIO: a terminal that is gone; EPIPE: nobody reads any more. */
const nobodyListens = ['EIO', 'EPIPE']

/** From now on the process goes on when what it says reaches nobody any more. */
export function outliveTerminal (): void {
  let isTerminalGone = false
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (!nobodyListens.includes(error.code ?? '')) throw error
      isTerminalGone ||= error.code === 'EIO'
    })
  }
  process.on('exit', () => { if (isTerminalGone) hangUp() })
}

/**
 * Ends as programs end whose terminal is closed. Otherwise Node goes on to restore the settings of the terminal, fails
 * at an assertion as that is gone (`ResetStdio`), and may keep a core busy with it for ever.
 */
function hangUp (): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}
