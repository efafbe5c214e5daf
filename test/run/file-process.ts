// A process that runs one test file after another, seen from the runner.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { TestFile } from './files.js'

/** To the process: run this file. */
export interface Order extends TestFile { timeoutMs: number }

/** From the process; what else it sends is of tap, and means nothing. */
export type News =
  /** More of what the file reports. */
  | { tap: string }
  /** The file wants so much time from now on; 0 for any. */
  | { timeoutMs: number }
  /** It is over, and took so much of the processor. */
  | { hasTimedOut: boolean, cpuSeconds: number }

/** How much longer than its time a file gets to say itself that it took too long. */
const graceMs = 15_000

/** Every core has a process of the run to work for: what helps a collection there takes CPU from others. */
const nodeFlags = ['--enable-source-maps', '--single-threaded-gc']

const main = fileURLToPath(new URL('./files-main.js', import.meta.url))

export class FileProcess {
  /** A process that timed out or ended runs no more files. */
  isFit = true
  /** What the last file took of the processor. */
  cpuSeconds = 0
  readonly #sources: string[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<string>
  #limit: NodeJS.Timeout | undefined

  constructor (env: NodeJS.ProcessEnv) {
    this.#child = fork(main, { env: { ...env, TAP_TIMEOUT: '0' }, execArgv: nodeFlags }) // each file has its own time
    const exit = once(this.#child, 'exit')
    this.#ended = once(this.#child, 'disconnect').then(async () => { // all that it sent has come
      const [code, signal] = await exit as [number | null, NodeJS.Signals | null]
      this.isFit = false
      return signal ?? `status ${code}`
    })
  }

  /** Runs a file, and gives what it reports to `report`. @returns how the process ended before the file, or nothing */
  async run (order: Order, report: { write (tap: string): unknown }): Promise<string> {
    this.#sources.push(order.source)
    this.cpuSeconds = 0
    this.#killAfter(order.timeoutMs + graceMs)
    const done = new Promise<string>((resolve) => {
      this.#child.removeAllListeners('message').on('message', (news: News) => {
        if ('tap' in news) report.write(news.tap)
        else if ('timeoutMs' in news) this.#killAfter(news.timeoutMs && news.timeoutMs + graceMs)
        else if ('cpuSeconds' in news) {
          this.cpuSeconds = news.cpuSeconds
          if (news.hasTimedOut) this.kill()
          resolve('')
        }
      })
    })
    this.#child.send(order)
    const how = await Promise.race([done, this.#ended])
    this.#killAfter(0)
    return how && `Its process ended with ${how}`
  }

  /** Waits for its end. @returns what is wrong with it, or nothing */
  async end (exitMs: number): Promise<string> {
    if (!this.isFit) return ''
    this.#child.disconnect()
    this.#killAfter(exitMs + graceMs)
    const how = await this.#ended
    this.#killAfter(0)
    return how === 'status 0' ? '' : `A process ended with ${how} after ${this.#sources.join(', ')}`
  }

  kill (): void {
    this.isFit = false
    this.#child.kill('SIGKILL')
  }

  #killAfter (ms: number): void {
    clearTimeout(this.#limit)
    this.#limit = ms === 0 ? undefined : setTimeout(() => { this.kill() }, ms).unref()
  }
}
