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
   */
  during<Result> (work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
}

/** Why work ended early: the command was asked to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Listens for signals from now on, so that a start that is broken off leaves nothing behind either. */
export function onShutdown (): Shutdown {
  const open: Array<() => Promise<unknown>> = []
  const asked = new AbortController()
  let working: Promise<unknown> = Promise.resolve()
  let failure: Error | undefined
  const logger = { error: (problem: unknown) => say(problem instanceof Error ? `ringledger: ${problem.message}` : String(problem)) }
  const grace = closeWithGrace({ delay: drainMs, logger, skip: ['beforeExit'] }, async ({ err, signal }) => {
    unwatch()
    failure ??= err
    if (signal) say(`Draining after ${signal} ...`)
    asked.abort(new Interrupted('stopped before it was done'))
    await working.catch(() => {})
    await closeAll()
    if (failure) throw failure
    say('Stopped.')
  })
  const unwatch = watchParent(() => { grace.close() })
  return {
    add: (close) => { open.push(close) },
    onLost (lost) {
      lost.then((error) => {
        failure ??= error
        if (!asked.signal.aborted) grace.close() // else it ends already, and tells
      }, () => {})
    },
    async during (work) {
      const running = work(asked.signal)
      working = running
      try {
        return await running
      } catch (error) {
        if (!asked.signal.aborted) await closeAll()
        throw error
      }
    }
  }

  /** What cannot be closed must not keep the rest open. */
  async function closeAll (): Promise<void> {
    for (let close = open.pop(); close; close = open.pop()) {
      await close().catch((error: unknown) => { failure ??= error instanceof Error ? error : new Error(String(error)) })
    }
  }
}
