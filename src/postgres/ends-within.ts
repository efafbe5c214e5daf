// Waits for work, but not for ever.
import { setTimeout as delay } from 'node:timers/promises'

/** Whether `work` ended in time, with or without an error. */
export async function endsWithin (ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const timer = new AbortController()
  const ended = Promise.resolve(work).then(() => true, () => true)
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false)
  return await Promise.race([ended, late]).finally(() => timer.abort())
}
