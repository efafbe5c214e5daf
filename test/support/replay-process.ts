// Runs replay-main as a process of its own.
import { compiledMain, type MainProcess, type Teardown } from './compiled-main.js'

export type Command = 'replay' | 'rollback' | 'drop'

/**
 * Compiles it; what comes back starts one that signals itself when it is at a point for the nth time. It says that point,
 * then the error that it ended with.
 */
export function replayProcesses (t: Teardown, eventStoreUrl: string): (databaseUrl: string, command: Command, signal: NodeJS.Signals, at: string, nth?: number) => MainProcess<string> {
  const start = compiledMain<string>(t, 'replay-main')
  return (databaseUrl, command, signal, at, nth = 1) => start(databaseUrl, eventStoreUrl, command, signal, at, String(nth))
}
