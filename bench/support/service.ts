// The processes that are measured: commands of `ringledger`, of this checkout or of another.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Role } from '../../src/services/services.js'
import { packageRoot } from '../../src/package-root.js'
import { ringledgerOf, type Environment } from './run.js'

export interface Running {
  url: string
  pid: number
  stop (): Promise<void>
}

/** A role in a process of its own, or all of them in one. */
export type Command = Role | 'start'

/** Starts a command and resolves when it listens. @param root of the checkout @throws when it ends before */
export async function startRole (
  command: Command | 'event-store', env: Environment, { root = packageRoot, args = [] as string[] } = {}
): Promise<Running> {
  const child = spawn(process.execPath, ringledgerOf(root, command, ...args), {
    env: { ...process.env, RINGLEDGER_NO_DOTENV: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const ended = once(child, 'exit')
  let isStopping = false
  const listening = new Promise<string>((resolve) => {
    createInterface(child.stdout).on('line', (line) => { // the log is not shown
      const [, port] = /^LISTENING (\d+)$/.exec(line) ?? []
      const [, url = port && `esdb://127.0.0.1:${port}?tls=false`] = /is listening on ([^\s"]+)/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
    createInterface(child.stderr).on('line', (line) => {
      if (!isStopping) process.stderr.write(`${command}: ${line}\n`)
    })
  })
  const url = await Promise.race([listening, ended.then(() => undefined)])
  if (url === undefined || child.pid === undefined) throw new Error(`ringledger ${command} of ${root} ended before it listened`)
  return {
    url,
    pid: child.pid,
    async stop () {
      isStopping = true
      child.kill('SIGTERM')
      await ended
    }
  }
}
