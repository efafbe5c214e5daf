// Runs replay-main as a process of its own.
import { compiledMain, type Teardown } from './compiled-main.js'

export type ReplayProcess = (databaseUrl: string, eventStoreUrl: string, at: string, nth: number) => Promise<NodeJS.Signals | number | null>

/** Compiles it; what comes back runs one to its end, which is a kill where it got to that point so often. */
export function replayProcesses (t: Teardown): ReplayProcess {
  const start = compiledMain(t, 'replay-main')
  return async (databaseUrl, eventStoreUrl, at, nth) => {
    const { child, ended } = start(databaseUrl, eventStoreUrl, at, String(nth))
    child.stdout.resume()
    return await ended
  }
}
