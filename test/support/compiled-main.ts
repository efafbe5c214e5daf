// Runs a module of test/support as a process of its own, compiled, so that it starts at once.
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile, openDirectory } from './embedded-checkout.js'

export interface Teardown { teardown (undo: () => unknown): void }

/** Compiles it; what comes back starts one with these arguments. */
export function compiledMain (t: Teardown, name: string) {
  const folder = openDirectory(t)
  for (const part of ['src', 'projections']) compile(part, folder)
  compile('test/support', folder, new RegExp(`^${name}\\.ts$`))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const main = join(folder, 'test/support', `${name}.js`)
  return (...args: string[]) => {
    // Without the loaders that the test runner puts into the environment.
    const child = spawn('env', ['-i', `PATH=${process.env.PATH}`, process.execPath, main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = new Promise<NodeJS.Signals | number | null>((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
    t.teardown(() => { child.kill('SIGKILL'); return ended })
    return { child, ended }
  }
}
