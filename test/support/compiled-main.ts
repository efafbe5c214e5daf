// Runs a module of test/support as a process of its own, compiled, so that it starts at once.
import { spawn } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compile, openDirectory } from './embedded-checkout.js'

export interface Teardown { teardown (undo: () => unknown): void }

export interface MainProcess<Said> {
  /** What it said, a line of JSON each. */
  said: Said[]
  signal (name: NodeJS.Signals): void
  ended: Promise<NodeJS.Signals | number | null>
}

/** Compiles it; what comes back starts one with these arguments, which is killed when the test of `t` ends. Its stdin closes with this process. */
export function compiledMain<Said> (t: Teardown, name: string): (...args: string[]) => MainProcess<Said> {
  const folder = openDirectory(t)
  for (const part of ['src', 'projections', 'workers']) compile(part, folder)
  compile('test/support', folder, new RegExp(`^${name}\\.ts$`))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const main = join(folder, 'test/support', `${name}.js`)
  return (...args) => {
    // Without the loaders that the test runner puts into the environment.
    const child = spawn('env', ['-i', `PATH=${process.env.PATH}`, process.execPath, main, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
    const said: Said[] = []
    createInterface(child.stdout).on('line', (line) => said.push(JSON.parse(line)))
    const ended = new Promise<NodeJS.Signals | number | null>((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
    t.teardown(() => { child.kill('SIGKILL'); return ended })
    return { said, ended, signal: (name) => void child.kill(name) }
  }
}
