// Lets the dispatcher write markers into the log: by them an older copy of its database is recognised.
import type { RestoreGuard } from '../../src/recovery/restore-guard.js'
import { writeMarker, type MarkerOptions } from '../../src/recovery/marker.js'
import type { Consumer, OpenConsumer } from '../../src/subscriptions/run.js'
import { BehindLog } from '../../src/recovery/database-state.js'
import { isOfOutage, RevisionConflict } from '../../src/log/errors.js'

export interface MarkingOptions extends MarkerOptions {
  restoreGuard: RestoreGuard
  /** From the first event after a marker to the next one, in milliseconds. */
  everyMs?: number | undefined
  log: { warn (details: object, message: string): void }
}

export interface Marking {
  /** The dispatcher, which now follows the log only while its database is not behind it. */
  consumer: Consumer
  /** Writes the last one, after the dispatcher has ended. */
  stop (): Promise<void>
}

const defaultPeriodMs = 10 * 60_000

/** A marker when the dispatcher acquires its lease, then at most one every `everyMs`, while events come. */
export function withMarkers (dispatcher: Consumer, options: MarkingOptions): Marking {
  const markers = new Markers(options)
  return {
    consumer: {
      ...dispatcher,
      async open () {
        await options.restoreGuard.assertMaySend()
        await writeMarker(options)
        return withMarksOf(markers, await dispatcher.open(), options.restoreGuard)
      }
    },
    stop: () => markers.stop()
  }
}

function withMarksOf (markers: Markers, opened: OpenConsumer, restoreGuard: RestoreGuard): OpenConsumer {
  const assertMaySend = () => {
    if (!restoreGuard.maySend()) throw new BehindLog('the database was found to be behind the log')
  }
  return {
    ...opened,
    async write (batch, from, epoch) {
      assertMaySend()
      await opened.write(batch, from, epoch)
      if (batch.events.length > 0) markers.markSoon()
    }
  }
}

class Markers {
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor (private readonly options: MarkingOptions) {}

  markSoon (): void {
    if (this.#isStopped) return // a marker that was under way has failed
    this.#timer ??= setTimeout(() => void this.#mark(), this.options.everyMs ?? defaultPeriodMs)
  }

  async stop (): Promise<void> {
    this.#isStopped = true
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    const { log } = this.options
    await writeMarker(this.options).catch((error: unknown) => {
      log.warn({ err: error }, 'the last marker was not written')
    })
  }

  async #mark (): Promise<void> {
    const { restoreGuard, log } = this.options
    this.#timer = undefined
    try {
      await writeMarker(this.options)
    } catch (error) {
      if (!isOfOutage(error)) log.warn({ err: error }, 'a marker was not written')
      this.markSoon()
      // Another process writes markers: the next holder of the lease, or another database, which may send already.
      if (error instanceof RevisionConflict || error instanceof BehindLog) await restoreGuard.check().catch(() => {})
    }
  }
}
