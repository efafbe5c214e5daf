// Notes what a subscription emits, in order.
import type { AllStreamSubscription, StreamSubscription } from '@eventstore/db-client'
import type { Test } from 'tap'

/** A revision, `confirmed`, `caught up`, or the name of an error. */
export type Entry = string

export interface Watched {
  log: Entry[]
  /** What was noted, once it is enough. */
  until (isEnough: (log: Entry[]) => boolean): Promise<Entry[]>
}

/** Notes the revisions of all streams, or of `only` one. */
export function watch (t: Test, subscription: AllStreamSubscription | StreamSubscription, only?: string): Watched {
  const log: Entry[] = []
  let wake = () => {}
  const note = (entry: Entry) => {
    log.push(entry)
    wake()
  }
  subscription.on('confirmation', () => { note('confirmed') })
  subscription.on('caughtUp', () => { note('caught up') })
  subscription.on('error', (error: Error) => { note(error.constructor.name) })
  subscription.on('data', ({ event }) => {
    if (only === undefined || event?.streamId === only) note(`${event?.revision}`)
  })
  t.teardown(() => subscription.unsubscribe())
  return {
    log,
    async until (isEnough) {
      while (!isEnough(log)) await new Promise<void>((resolve) => { wake = resolve })
      return log
    }
  }
}
