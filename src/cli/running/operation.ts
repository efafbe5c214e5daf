// Runs the long work of a command until it is done or broken off by a signal, and shows how far it is.
import { withProgress, type ProgressView } from './progress.js'
import { Shutdown } from './shutdown/shutdown.js'

export interface Operation {
  /** Aborted by a signal: `work` gives up soon after. */
  signal: AbortSignal
  onProgress: ProgressView['update']
}

/** @param stopped printed when somebody breaks it off; then the exit status is 1 */
export async function operate<Result> (
  stopped: string, work: (operation: Operation) => Promise<Result>
): Promise<Result> {
  const shutdown = new Shutdown()
  let isDone = false
  shutdown.add(async () => { if (!isDone) throw new Error(stopped) })
  return await shutdown.during(async (signal) => {
    const result = await withProgress(signal, (onProgress) => work({ signal, onProgress }))
    isDone = true
    return result
  })
}
