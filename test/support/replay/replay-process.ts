// Runs replay-main as a process of its own.
import { mainProcess, type MainProcess } from '../processes/main-process.js'
import { checkEveryMs } from './replay-database.js'
import type { Teardown } from '../teardown.js'

export type Command = 'replay' | 'rollback' | 'drop' | 'project'

/** Where it signals itself: before the nth statement like this. */
export interface SignalAt { signal: NodeJS.Signals, at: string, nth?: number }

/** Starts a command. It prints the statement at which it signals itself, or all of them, and then its error. */
export function replayProcesses (
  t: Teardown, eventStoreUrl: string
): (databaseUrl: string, command: Command, signalAt?: SignalAt) => MainProcess<string> {
  return (databaseUrl, command, signalAt) => {
    const options = { databaseUrl, eventStoreUrl, command, at: '', nth: 1, checkEveryMs, ...signalAt }
    return mainProcess(t, 'replay/replay-main', [JSON.stringify(options)])
  }
}
