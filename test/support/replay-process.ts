// Runs replay-main as a process of its own.
import { mainProcess, type MainProcess, type Teardown } from './main-process.js'

export type Command = 'replay' | 'rollback' | 'drop'

/**
 * What comes back starts one that signals itself when it is at a point for the nth time. It says that point, then the
 * error that it ended with.
 */
export function replayProcesses (t: Teardown, eventStoreUrl: string): (databaseUrl: string, command: Command, signal: NodeJS.Signals, at: string, nth?: number) => MainProcess<string> {
  return (databaseUrl, command, signal, at, nth = 1) => mainProcess(t, 'replay-main', [databaseUrl, eventStoreUrl, command, signal, at, String(nth)])
}
