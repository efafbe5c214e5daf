// Ends a long-running command: on a signal, with npm, or when a back end under it dies.
import closeWithGrace from 'close-with-grace'
import { say } from './back-ends.js'
import { watchParent } from './parent.js'

/** In-flight work has 20 s, then come connections and embedded back ends. */
const drainMs = 30_000

export interface Shutdown {
  /** To be closed at the end; what was added last is closed first. */
  add (close: () => Promise<void>): void
  /** Closes everything when this settles, and ends with exit status 1. */
  onLost (lost: Promise<Error>): void
}

/** Listens for signals from now on, so that a start that is broken off leaves nothing behind either. */
export function onShutdown (): Shutdown {
  const open: Array<() => Promise<void>> = []
  let failure: Error | undefined
  const logger = { error: (problem: unknown) => say(problem instanceof Error ? `ringledger: ${problem.message}` : String(problem)) }
  const grace = closeWithGrace({ delay: drainMs, logger, skip: ['beforeExit'] }, async ({ err, signal }) => {
    unwatch()
    failure ??= err
    if (signal) say(`Draining after ${signal} ...`)
    for (const close of open.reverse()) await close()
    if (failure) throw failure
    say('Stopped.')
  })
  const unwatch = watchParent(() => { grace.close() })
  return {
    add: (close) => { open.push(close) },
    onLost (lost) {
      lost.then((error) => {
        failure = error
        grace.close()
      }, () => {})
    }
  }
}
