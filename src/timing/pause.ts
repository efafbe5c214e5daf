// Waits between two tries.
import { setTimeout as delay } from 'node:timers/promises'

/** Waits, or returns early when `signal` is aborted. */
export async function pause (ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
