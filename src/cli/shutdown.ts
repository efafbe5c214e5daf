// Ends a long-running command: on a signal, with npm, or when a back end dies. close-with-grace catches errors, limits
// the time and sets the exit status. We handle signals, as a role drains first.
import { setTimeout as delay } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { forPeople, type Voice } from './output.js'
import { withProgress, type OnProgress } from './progress.js'

/** A second one skips the drain delay, or ends the process at once if closing has begun. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** 20 s for work in flight, the rest for connections and embedded back ends. */
const drainMs = 30_000

/** Work ended early because the command was asked to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Handles signals as soon as it is constructed, so that an interrupted start leaves nothing behind either. */
export class Shutdown {
  readonly #voice: Voice
  readonly #open: Array<() => Promise<unknown>> = []
  readonly #stopping = new AbortController()
  readonly #grace: ReturnType<typeof closeWithGrace>
  readonly #unwatch: () => void
  readonly #impatient = new AbortController()
  #leaving = { delayMs: 0, leave: () => {} }
  #phase: 'running' | 'leaving' | 'ending' = 'running'
  #signal: string | undefined
  #working: Promise<unknown> = Promise.resolve()
  #failure: Error | undefined

  constructor (voice: Voice = forPeople) {
    this.#voice = voice
    const error = (problem: unknown) => { if (problem !== this.#failure) voice.complain(problem) }
    const options = { delay: drainMs, logger: { error }, skip: ['beforeExit' as const, ...signals] }
    this.#grace = closeWithGrace(options, async ({ err, signal }) => await this.#end(err, signal ?? this.#signal))
    for (const signal of signals) process.on(signal, () => this.#onSignal(signal))
    this.#unwatch = watchParent(() => { void this.#stop() })
  }

  /** On a stop, calls `leave` at once, and closes everything `delayMs` later or at a second signal. */
  leaveFirst (delayMs: number, leave: () => void): void {
    this.#leaving = { delayMs, leave }
  }

  #onSignal (signal: string): void {
    if (this.#phase === 'leaving') return this.#impatient.abort()
    if (this.#phase === 'ending') {
      this.#voice.say(`second ${signal}, exiting`)
      void this.#voice.written().finally(() => process.exit(1)) // within a second, whatever else hangs
      return
    }
    this.#signal = signal
    void this.#stop()
  }

  /** Without a delay, closing begins at once, so the very next signal counts as the second. */
  async #stop (): Promise<void> {
    if (this.#phase !== 'running') return
    this.#unwatch()
    this.#phase = 'leaving'
    const { delayMs, leave } = this.#leaving
    leave()
    if (delayMs > 0) {
      this.#voice.say(`Not ready any more; draining after ${delayMs / 1_000} s, or a second signal ...`)
      await delay(delayMs, undefined, { signal: this.#impatient.signal }).catch(() => {})
    }
    this.#close()
  }

  #close (): void {
    if (this.#phase === 'ending') return
    this.#phase = 'ending'
    this.#grace.close()
  }

  /** Registers something to close at the end; closes in reverse order. */
  add (close: () => Promise<unknown>): void {
    this.#open.push(close)
  }

  /** Closes everything when `lost` resolves, and exits with status 1. */
  onLost (lost: Promise<Error>): void {
    lost.then((error) => {
      this.#failure ??= error
      if (!this.#stopping.signal.aborted) this.#close() // otherwise it is closing already, and reports the error
    }, () => {})
  }

  /**
   * Runs `work`, and closes everything when it fails. Closing waits until `work` has settled, so that `work` opens
   * nothing afterwards; `work` gives up soon after `signal` is aborted.
   * @throws Interrupted, caused by what `work` threw, once the command was asked to stop: a signal of the terminal also
   * ends child programs such as initdb, and that is no failure to report
   */
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
    this.#phase = 'ending' // also after an uncaught error
    this.#impatient.abort()
    this.#failure ??= error
    if (signal) this.#voice.say(`Draining after ${signal} ...`)
    this.#stopping.abort(new Interrupted('stopped before it was done'))
    await this.#working.catch(() => {})
    await this.#closeAll()
    if (this.#failure) this.#voice.complain(this.#failure)
    else this.#voice.say('Stopped.')
    await this.#voice.written()
    if (this.#failure) throw this.#failure
  }

  /** A failed close must not keep the rest open. */
  async #closeAll (): Promise<void> {
    for (let close = this.#open.pop(); close; close = this.#open.pop()) {
      await close().catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error))
      })
    }
  }
}

interface Operation {
  /** Aborted by a signal; `work` gives up soon after. */
  signal: AbortSignal
  onProgress: OnProgress
}

/**
 * Runs the long work of a command until it is done or a signal stops it, and shows its progress.
 * @param stopped printed when a signal stops it; then the exit status is 1
 */
export async function operate<Result> (
  stopped: string, work: (operation: Operation) => Promise<Result>
): Promise<Result> {
  const shutdown = new Shutdown()
  let isDone = false
  shutdown.add(async () => { if (!isDone) throw new Error(stopped) })
  return await shutdown.during(async (signal) => {
    const result = await withProgress(signal, (onProgress) => work({ signal, onProgress }))
    isDone = true
    return result
  })
}

/**
 * Detects that npm is gone: npm signals only the shell that runs its script, which passes nothing on. Calls `onLost`
 * once when the parent process has ended, if npm started this process. Checks every `everyMs` milliseconds, and keeps
 * no process alive. Without npm the operator may want this process to outlive its parent.
 * @returns a function that stops the checks: call it when closing begins, or one signal to the whole group counts twice
 */
export function watchParent (onLost: () => void, everyMs = 1_000): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {}
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    onLost()
  }, everyMs)
  watch.unref()
  return () => clearInterval(watch)
}
