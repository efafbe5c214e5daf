// Ends a long-running command: on a signal, with npm, or when a back end under it dies.
import closeWithGrace from 'close-with-grace'
import { say } from './output.js'
import { watchParent } from './parent.js'

/** In-flight work has 20 s, then come connections and embedded back ends. */
const drainMs = 30_000

export interface Shutdown {
  /** To be closed at the end; what was added last is closed first. */
  add (close: () => Promise<unknown>): void
  /** Closes everything when this settles, and ends with exit status 1. */
  onLost (lost: Promise<Error>): void
  /**
   * Runs `work`, and closes everything when it fails. Closing waits until `work` has settled, so that nothing is
   * opened behind its back: `work` gives up soon after `signal` is aborted.
   * @throws Interrupted, with what `work` threw as its cause, once the command was asked to stop: a signal of a
   * terminal also ends the programs that the command runs, initdb for one, and that is no failure to report
   */
  during<Result> (work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
}

/** Why work ended early: the command was asked to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Listens for signals from now on, so that a start that is broken off leaves nothing behind either. */
export function onShutdown (): Shutdown {
  return new GracefulShutdown()
}

class GracefulShutdown implements Shutdown {
  readonly #open: Array<() => Promise<unknown>> = []
  readonly #stopping = new AbortController()
  readonly #grace: ReturnType<typeof closeWithGrace>
  readonly #unwatch: () => void
  #working: Promise<unknown> = Promise.resolve()
  #failure: Error | undefined

  constructor () {
    const options = { delay: drainMs, logger: { error: sayProblem }, skip: ['beforeExit' as const] }
    this.#grace = closeWithGrace(options, async ({ err, signal }) => await this.#end(err, signal))
    this.#unwatch = watchParent(() => { this.#grace.close() })
  }

  add (close: () => Promise<unknown>): void {
    this.#open.push(close)
  }

  onLost (lost: Promise<Error>): void {
    lost.then((error) => {
      this.#failure ??= error
      if (!this.#stopping.signal.aborted) this.#grace.close() // else it ends already, and reports the error
    }, () => {})
  }

  async during<Result> (work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const running = work(this.#stopping.signal)
    this.#working = running
    try {
      return await running
    } catch (error) {
      if (this.#stopping.signal.aborted) throw new Interrupted('stopped before it was done', { cause: error })
      await this.#closeAll()
      throw error
    }
  }

  async #end (error: Error | undefined, signal: string | undefined): Promise<void> {
    this.#unwatch()
    this.#failure ??= error
    if (signal) say(`Draining after ${signal} ...`)
    this.#stopping.abort(new Interrupted('stopped before it was done'))
    await this.#working.catch(() => {})
    await this.#closeAll()
    if (this.#failure) throw this.#failure
    say('Stopped.')
  }

  /** What cannot be closed must not keep the rest open. */
  async #closeAll (): Promise<void> {
    for (let close = this.#open.pop(); close; close = this.#open.pop()) {
      await close().catch((error: unknown) => { this.#failure ??= toError(error) })
    }
  }
}

function sayProblem (problem: unknown): void {
  say(problem instanceof Error ? `ringledger: ${problem.message}` : String(problem))
}

const toError = (error: unknown) => error instanceof Error ? error : new Error(String(error))
