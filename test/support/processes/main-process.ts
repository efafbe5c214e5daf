// Runs a module of a test as a process of its own.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Teardown } from '../teardown.js'

/**
 * Starts it with these arguments; killed when the test of `t` ends. Its stdin closes with this process. `heapMb` is how
 * much memory its heap may take.
 */
export function mainProcess<Said> (
  t: Teardown, module: URL, args: readonly string[], { heapMb }: { heapMb?: number } = {}
) {
  // Without what the test runner puts into the environment.
  const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]
  const child = spawn('env', ['-i', `PATH=${process.env.PATH}`, process.execPath, ...flags, fileURLToPath(module), ...args], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const said: Said[] = [] // a line of JSON each
  createInterface(child.stdout).on('line', (line) => said.push(JSON.parse(line)))
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)))
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
  return { said, ended, signal: (name: NodeJS.Signals) => void child.kill(name) }
}
