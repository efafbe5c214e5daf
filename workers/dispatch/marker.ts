// Lets the dispatcher write markers into the log, which reveal an older copy of its database.
import type { LogGuard } from '../../src/recovery/log-guard.js'
import { BehindLog, writeMarker, type MarkerOptions } from '../../src/recovery/markers.js'
import type { Consumer } from '../../src/subscriptions/run.js'
import { isOfOutage, RevisionConflict } from '../../src/log/errors.js'

interface MarkingOptions extends MarkerOptions {
  logGuard: LogGuard
  /** From the first event after a marker to the next one, in milliseconds. */
  everyMs?: number | undefined
  log: { warn (details: object, message: string): void }
}

export interface Marking {
  /** The dispatcher, which now follows the log only while its database is not behind it. */
  consumer: Consumer
  /** Writes the last marker. Call it after the dispatcher has ended. */
  stop (): Promise<void>
}

const defaultPeriodMs = 10 * 60_000

/** Writes a marker when the dispatcher gets its lease, then at most one every `everyMs` while events come. */
export function withMarkers (dispatcher: Consumer, options: MarkingOptions): Marking {
  const { logGuard, log, everyMs = defaultPeriodMs } = options
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  return {
    consumer: {
      ...dispatcher,
      async open () {
        await logGuard.assertMaySend()
        await writeMarker(options)
        const opened = await dispatcher.open()
        return {
          ...opened,
          async write (batch, from, epoch) {
            if (!logGuard.maySend()) throw new BehindLog('the database was found to be behind the log')
            await opened.write(batch, from, epoch)
            if (batch.events.length > 0) markSoon()
          }
        }
      }
    },
    async stop () {
      isStopped = true
      if (timer === undefined) return
      clearTimeout(timer)
      await writeMarker(options).catch((error: unknown) => log.warn({ err: error }, 'the last marker was not written'))
    }
  }

  function markSoon (): void {
    if (!isStopped) timer ??= setTimeout(() => void mark(), everyMs) // stopped: a marker that was under way has failed
  }

  async function mark (): Promise<void> {
    timer = undefined
    try {
      await writeMarker(options)
    } catch (error) {
      if (!isOfOutage(error)) log.warn({ err: error }, 'a marker was not written')
      markSoon()
      // Another process writes markers: the next holder of the lease, or another database, which may send already.
      if (error instanceof RevisionConflict || error instanceof BehindLog) await logGuard.check().catch(() => {})
    }
  }
}
