// Runs replay-main as a process of its own, compiled, so that it starts at once.
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile, openDirectory } from './embedded-checkout.js'

interface Teardown { teardown (undo: () => unknown): void }

export type ReplayProcess = (databaseUrl: string, eventStoreUrl: string, at: string, nth: number) => Promise<NodeJS.Signals | number | null>

/** Compiles it; what comes back runs one to its end, which is a kill where it got to that point so often. */
export function replayProcesses (t: Teardown): ReplayProcess {
  const folder = openDirectory(t)
  for (const part of ['src', 'projections']) compile(part, folder)
  compile('test/support', folder, /^replay-main\.ts$/)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const main = join(folder, 'test/support/replay-main.js')
  return async (databaseUrl, eventStoreUrl, at, nth) => {
    // Without the loaders that the test runner puts into the environment.
    const child = spawn('env', ['-i', `PATH=${process.env.PATH}`, process.execPath, main, databaseUrl, eventStoreUrl, at, String(nth)], { stdio: ['ignore', 'ignore', 'inherit'] })
    t.teardown(() => { child.kill('SIGKILL') })
    return await new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
  }
}
