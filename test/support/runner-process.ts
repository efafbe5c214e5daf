// Runs runner-main as a process of its own, compiled, so that it starts at once.
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compile, openDirectory } from './embedded-checkout.js'

interface Teardown { teardown (undo: () => unknown): void }

/** What it said of a stop: `at` names the point where it is, `error` and `reason` why its consumer stopped. */
export interface Said { at?: string, message?: string, error?: string, reason?: string }

export interface RunnerProcess {
  said: Said[]
  signal (name: NodeJS.Signals): void
  ended: Promise<NodeJS.Signals | null>
}

/** Compiles it; what comes back starts one that signals itself when it is at a point for the nth time. */
export function runnerProcesses (t: Teardown, databaseUrl: string, eventStoreUrl: string): (signal: NodeJS.Signals, at: string, nth?: number) => RunnerProcess {
  const folder = openDirectory(t)
  for (const part of ['src', 'projections']) compile(part, folder)
  compile('test/support', folder, /^runner-main\.ts$/)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const main = join(folder, 'test/support/runner-main.js')
  return (signal, at, nth = 1) => {
    // Without the loaders that the test runner puts into the environment.
    const child = spawn('env', ['-i', `PATH=${process.env.PATH}`, process.execPath, main, databaseUrl, eventStoreUrl, signal, at, String(nth)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const said: Said[] = []
    createInterface(child.stdout).on('line', (line) => said.push(JSON.parse(line)))
    const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_code, by) => resolve(by)))
    t.teardown(() => { child.kill('SIGKILL'); return ended })
    return { said, ended, signal: (name) => void child.kill(name) }
  }
}
