// Prints what happened, where, and how long it took.
import { styleText } from 'node:util'
import { printJson } from '../output.js'

type Report<Result> = string | readonly [result: Result, line: string]

interface Step { step: string, where: string, ms: number, held: boolean }

export class Timeline {
  readonly #startedAt = performance.now()
  readonly #signal: AbortSignal
  readonly #json: boolean
  readonly #steps: Step[] = []

  /** Once `signal` is aborted no step begins but the last one. For programs nothing is printed before the end. */
  constructor (title: string, signal: AbortSignal, { json = false } = {}) {
    this.#signal = signal
    this.#json = json
    this.#print(`\n${this.#style('bold', title)}\n`)
    this.#print(this.#style('dim', '   at        took   what                        where'))
  }

  /**
   * Runs one step and prints its line; `work` answers a line to print below it, or a result and such a line.
   * A step that throws is printed as failed, and the error is thrown on.
   */
  async step<Result = void> (what: string, where: string, work: () => Promise<Report<Result>>): Promise<Result> {
    this.#signal.throwIfAborted()
    return await this.lastStep(what, where, work)
  }

  /** A step that is due whatever happened before. */
  async lastStep<Result = void> (what: string, where: string, work: () => Promise<Report<Result>>): Promise<Result> {
    const startedAt = performance.now()
    try {
      const report = await work()
      this.#line(startedAt, true, what, where)
      this.#print(this.#style('dim', `                      ${typeof report === 'string' ? report : report[1]}`))
      return (typeof report === 'string' ? undefined : report[0]) as Result // a step with a line alone has no result
    } catch (error) {
      this.#line(startedAt, false, what, where)
      throw error
    }
  }

  end (): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1)
    const hasFailed = this.#signal.aborted || this.#steps.some(({ held }) => !held)
    if (this.#json) return printJson({ held: !hasFailed, seconds: Number(seconds), steps: this.#steps })
    if (hasFailed) return this.#print(this.#style('red', `\nThe demo failed after ${seconds} s.`))
    this.#print(this.#style('green', `\nEverything held, in ${seconds} s.`))
    this.#print('Next: `npm start` runs the service with a data directory of its own.')
  }

  #line (startedAt: number, held: boolean, what: string, where: string): void {
    const now = performance.now()
    const mark = held ? this.#style('green', '✓') : this.#style('red', '✗')
    this.#steps.push({ step: what, where, ms: Math.round(now - startedAt), held })
    const at = `${((now - this.#startedAt) / 1000).toFixed(2)} s`.padStart(8)
    const took = `${(now - startedAt).toFixed(0)} ms`.padStart(8)
    this.#print(`${mark}  ${at}  ${took}   ${what.padEnd(26)}  ${this.#style('cyan', where)}`)
  }

  #style (format: Parameters<typeof styleText>[0], text: string): string {
    return styleText(format, text, { stream: process.stdout })
  }

  #print (text: string): void {
    if (!this.#json) process.stdout.write(`${text}\n`)
  }
}
