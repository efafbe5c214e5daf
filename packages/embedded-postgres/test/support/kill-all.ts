// kill -9 of several processes, some of which end because others did.

/** Kills them all. A process that is gone already is no error. */
export function killAll (pids: ReadonlyArray<number | undefined>): void {
  for (const pid of pids) {
    try {
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}
