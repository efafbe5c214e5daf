// A process that runs one test file after another.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Limit } from './limit.js'
import type { News, Order } from './messages.js'

export interface Limits {
  /** How much longer than its time a file gets to say itself that it took too long. */
  graceMs: number
  /** How long a process may go on after its last file: a pool closes an idle connection after ten seconds. */
  exitMs: number
}

/** Takes lines of TAP. */
export interface Report { write (tap: string): unknown }

/** Every core has a process of the run to work for: what helps a collection there takes CPU from others. */
const nodeFlags = ['--enable-source-maps', '--single-threaded-gc']

const main = fileURLToPath(new URL('./files-main.js', import.meta.url))

export class FileProcess {
  /** A process that timed out or ended runs no more files. */
  isFit = true
  /** What the last file took of the processor, as far as it is known. */
  cpuSeconds = 0
  readonly #child: ChildProcess
  readonly #ended: Promise<string>
  readonly #limits: Limits
  /** What was open at the end of each file. */
  readonly #open = new Map<string, Record<string, number>>()

  constructor (env: NodeJS.ProcessEnv, limits: Limits = { graceMs: 15_000, exitMs: 30_000 }) {
    this.#limits = limits
    const ofFiles = { ...env, TAP_TIMEOUT: '0' } // each file has a time of its own, and the process has none
    this.#child = fork(main, { env: ofFiles, execArgv: nodeFlags })
    const exit = once(this.#child, 'exit')
    this.#ended = once(this.#child, 'disconnect').then(async () => { // all that it sent has come
      const [code, signal]: [number | null, NodeJS.Signals | null] = await exit as [number, null]
      this.isFit = false
      return signal ?? `status ${String(code)}`
    })
  }

  /** Runs a file, and gives what it reports to `report`. @returns how the process ended before the file, or nothing */
  async run (order: Order, report: Report): Promise<string> {
    this.cpuSeconds = 0
    const limit = new Limit(() => { this.kill() })
    limit.set(order.timeoutMs + this.#limits.graceMs)
    const done = new Promise<string>((resolve) => {
      this.#child.removeAllListeners('message').on('message', (news: News) => {
        if ('tap' in news) report.write(news.tap)
        else if ('timeoutMs' in news) limit.set(news.timeoutMs && news.timeoutMs + this.#limits.graceMs)
        else if ('open' in news) {
          this.#open.set(order.source, news.open)
          this.cpuSeconds = news.cpuSeconds
          if (news.hasTimedOut) this.kill()
          resolve('')
        }
      })
    })
    this.#child.send(order)
    const how = await Promise.race([done, this.#ended])
    limit.set(0)
    return how && `Its process ended with ${how}`
  }

  /** Waits for its end. @returns what is wrong with it, or nothing */
  async end (): Promise<string> {
    if (!this.isFit) return ''
    this.#child.disconnect()
    const limit = new Limit(() => { this.kill() })
    limit.set(this.#limits.exitMs)
    const how = await this.#ended
    limit.set(0)
    const open = [...this.#open].map(([source, open]) => `after ${source} ${JSON.stringify(open)}`)
    if (how === 'SIGKILL') return `A process does not end. What was open: ${open.join('; ')}`
    return how === 'status 0' ? '' : `A process ended with ${how} after ${[...this.#open.keys()].join(', ')}`
  }

  kill (): void {
    this.isFit = false
    this.#child.kill('SIGKILL')
  }
}
