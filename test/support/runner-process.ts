// Runs runner-main as a process of its own.
import { createInterface } from 'node:readline'
import { compiledMain, type Teardown } from './compiled-main.js'

/** What it said of a stop: `at` names the point where it is, `error` and `reason` why its consumer stopped. */
export interface Said { at?: string, message?: string, error?: string, reason?: string }

export interface RunnerProcess {
  said: Said[]
  signal (name: NodeJS.Signals): void
  ended: Promise<NodeJS.Signals | number | null>
}

/** Compiles it; what comes back starts one that signals itself when it is at a point for the nth time. */
export function runnerProcesses (t: Teardown, databaseUrl: string, eventStoreUrl: string): (signal: NodeJS.Signals, at: string, nth?: number) => RunnerProcess {
  const start = compiledMain(t, 'runner-main')
  return (signal, at, nth = 1) => {
    const { child, ended } = start(databaseUrl, eventStoreUrl, signal, at, String(nth))
    const said: Said[] = []
    createInterface(child.stdout).on('line', (line) => said.push(JSON.parse(line)))
    return { said, ended, signal: (name) => void child.kill(name) }
  }
}
