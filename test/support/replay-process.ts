// Runs replay-main as a process of its own.
import { createInterface } from 'node:readline'
import { compiledMain, type Teardown } from './compiled-main.js'

export interface ReplayProcess {
  /** The point where it was when it signalled itself, then the error that it ended with. */
  said: string[]
  signal (name: NodeJS.Signals): void
  ended: Promise<NodeJS.Signals | number | null>
}

export type Command = 'replay' | 'rollback' | 'drop'

/** Compiles it; what comes back starts one that signals itself when it is at a point for the nth time. */
export function replayProcesses (t: Teardown, eventStoreUrl: string): (databaseUrl: string, command: Command, signal: NodeJS.Signals, at: string, nth?: number) => ReplayProcess {
  const start = compiledMain(t, 'replay-main')
  return (databaseUrl, command, signal, at, nth = 1) => {
    const { child, ended } = start(databaseUrl, eventStoreUrl, command, signal, at, String(nth))
    const said: string[] = []
    createInterface(child.stdout).on('line', (line) => said.push(line))
    return { said, ended, signal: (name) => void child.kill(name) }
  }
}
