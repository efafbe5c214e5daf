// The processes that are measured: roles of the real command.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Role } from '../../src/composition/role.js'
import { ringledger, type Environment } from '../support/run.js'

export interface Running {
  url: string
  pid: number
  stop (): Promise<void>
}

/** A role in a process of its own, or all of them in one. */
export type Command = Role | 'start'

/** Starts a role and resolves when it listens. @param nodeOptions of its process @throws when it ends before */
export async function startRole (
  role: Command, env: Environment, nodeOptions: readonly string[] = []
): Promise<Running> {
  const child = spawn(process.execPath, [...nodeOptions, ...ringledger(role)], {
    env: { ...process.env, RINGLEDGER_NO_DOTENV: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const ended = once(child, 'exit')
  let isStopping = false
  const listening = new Promise<string>((resolve) => {
    createInterface(child.stdout).on('line', (line) => { // the log is not shown
      const [, url] = /is listening on ([^\s"]+)/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
    createInterface(child.stderr).on('line', (line) => {
      if (!isStopping) process.stderr.write(`${role}: ${line}\n`)
    })
  })
  const url = await Promise.race([listening, ended.then(() => undefined)])
  if (url === undefined || child.pid === undefined) throw new Error(`ringledger ${role} ended before it listened`)
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
