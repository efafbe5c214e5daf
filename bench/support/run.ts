// Runs node processes and watches how much memory they take at most.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from '../../src/package-root.js'
import { cpuMs, peakOf } from './processes.js'

export interface Ran {
  stdout: string
  stderr: string
  /** From its start to its end. */
  seconds: number
  /** Largest resident memory of this process alone, in MiB, as Linux reports it; NaN elsewhere. */
  peak: number
  /** Milliseconds of CPU of this process alone, short of its last moments; NaN where it is not Linux. */
  cpu: number
}

export type Environment = Record<string, string>

/** The arguments of node that run a command of the checkout at `root`. */
export const ringledgerOf = (root: string, ...args: string[]) => [join(root, 'bin/ringledger.js'), ...args]
export const ringledger = (...args: string[]) => ringledgerOf(packageRoot, ...args)

/** Runs it to its end. @throws when that is not a good one */
export async function run (args: readonly string[], env: Environment = {}): Promise<Ran> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, { env: { ...process.env, RINGLEDGER_NO_DOTENV: '1', ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr, peak, cpu] = ['', '', NaN, NaN]
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text })
  const watching = setInterval(() => {
    peak = peakOf(child.pid) ?? peak
    cpu = Math.max(cpu || 0, cpuMs(child.pid ?? 0)) || NaN
  }, 50)
  const code = await new Promise((resolve) => child.once('close', resolve))
  clearInterval(watching)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}:\n${stdout}${stderr}`)
  return { stdout, stderr, seconds: (performance.now() - startedAt) / 1_000, peak, cpu }
}

/** Runs a command in a folder to its end. @throws when that is not a good one */
export async function runCommand (command: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'close') as [number | null]
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(code)}, in ${cwd}`)
}
