// Lets the dispatcher write markers into the log, which tell an older copy of its database from the present one.
import type { RestoreGuard } from '../../src/recovery/restore-guard.js'
import { writeMarker, type MarkerOptions } from '../../src/recovery/marker.js'
import type { Consumer } from '../../src/subscriptions/run.js'
import { BehindLog } from '../../src/recovery/database-state.js'
import { RevisionConflict } from '../../src/event-store/errors.js'

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

/** One marker when the dispatcher takes over, then at most one every `everyMs`, while there are events for it. */
export function withMarkers (dispatcher: Consumer, options: MarkingOptions): Marking {
  const { restoreGuard, everyMs = defaultPeriodMs, log } = options
  let timer: NodeJS.Timeout | undefined

  return {
    consumer: {
      ...dispatcher,
      async open () {
        await restoreGuard.assertMaySend()
        await writeMarker(options)
        const opened = await dispatcher.open()
        return {
          ...opened,
          async handle (tx, batch) {
            if (!restoreGuard.maySend()) throw new BehindLog('the database was found to be behind the log')
            await opened.handle(tx, batch)
          },
          committed (batch) {
            opened.committed?.(batch)
            if (batch.events.length > 0) timer ??= setTimeout(() => void mark(), everyMs)
          }
        }
      }
    },
    async stop () {
      if (timer === undefined) return
      clearTimeout(timer)
      await writeMarker(options).catch((error: unknown) => log.warn({ err: error }, 'the last marker was not written'))
    }
  }

  async function mark (): Promise<void> {
    timer = undefined
    try {
      await writeMarker(options)
    } catch (error) {
      log.warn({ err: error }, 'a marker was not written')
      timer ??= setTimeout(() => void mark(), everyMs)
      // Another process writes markers: the next owner of the lease, or another database, which may send already.
      if (error instanceof RevisionConflict || error instanceof BehindLog) await restoreGuard.check().catch(() => {})
    }
  }
}
