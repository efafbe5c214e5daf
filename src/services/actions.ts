// Runs an action on a projection in a child process: it may take minutes and much memory while requests go on.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { beginAction, endAction } from '../../projections/engine/actions.js'
import type { Action, OperationInput } from '../../projections/engine/operations.js'
import { endsWithin } from '../timing.js'
import type { Services } from './services.js'
import type { ActionOrder } from './action-process.js'

/** Inherits the environment, and reads the URLs of the back ends from stdin. */
const program = fileURLToPath(new URL('./action-process.js', import.meta.url))

/** A child that gets SIGTERM ends within this time, or is killed. */
const stopsWithinMs = 3_000

export function openActions ({ urls, config, pool, log }: Pick<Services, 'urls' | 'config' | 'pool' | 'log'>) {
  const running = new Set<ChildProcess>()
  let isStopped = false
  return { start, stop }

  /** @returns the id of the action; undefined while another one runs on that projection */
  async function start (action: Action, projection: string, input: OperationInput): Promise<string | undefined> {
    const id = randomUUID()
    if (!await beginAction(pool, { id, action, projection })) return undefined
    if (isStopped) {
      await fail(id, 'The service stopped before it began. Ask for it again.')
      return id
    }
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'ignore', 'inherit'] })
    running.add(child)
    const ended = (how: string) => {
      running.delete(child)
      void fail(id, `The process that did it ${how}; the log of the service says more.`)
    }
    child.once('exit', (code, signal) => ended(signal ? `was ended by ${signal}` : `ended with exit status ${code}`))
    child.once('error', (error) => {
      log.error({ err: error, action, projection }, 'an action did not begin')
      if (child.pid === undefined) ended('did not begin')
    })
    const { secrets, previousSecretKeys, logLevel } = config
    const order: ActionOrder = { id, action, projection, input, urls, keys: { secrets, previousSecretKeys }, logLevel }
    child.stdin.on('error', () => {}) // the exit handler reports that it has ended
    child.stdin.end(JSON.stringify(order))
    return id
  }

  /** A child that succeeded has already recorded that; this does not overwrite it. */
  async function fail (id: string, words: string): Promise<void> {
    await endAction(pool, id, 'failed', words).catch((error: unknown) => {
      log.warn({ err: error }, 'the end of an action could not be recorded')
    })
  }

  async function stop (): Promise<void> {
    isStopped = true
    await Promise.all([...running].map(async (child) => {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      if (!await endsWithin(stopsWithinMs, exit)) child.kill('SIGKILL')
    }))
  }
}
