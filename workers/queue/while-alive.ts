// Gives work to a process whose queue answers.
import { beat } from '../../src/timing.js'
import type { JobQueue } from './queue.js'

const lookEveryMs = 1_000

type Queue = Pick<JobQueue, 'assertAlive'>
type Write = (details: object, message: string) => void

/**
 * Runs `work` until `signal` is aborted. While the queue is dead it does not run: `work` gives up its leases when its
 * signal is aborted, so that a process whose queue answers may acquire them.
 */
export async function whileAlive (
  { queue, signal, log }: { queue: Queue, signal: AbortSignal, log: Record<'warn' | 'info', Write> },
  work: (signal: AbortSignal) => Promise<unknown>
): Promise<void> {
  while (!signal.aborted) {
    const ended = new AbortController()
    const end = () => ended.abort()
    signal.addEventListener('abort', end, { once: true })
    const working = work(ended.signal).finally(end)
    working.catch(() => {}) // thrown on below
    const silence = await untilDead(queue, ended.signal)
    end()
    await working.finally(() => signal.removeEventListener('abort', end))
    if (silence === undefined) return
    log.warn({ reason: silence }, 'the webhook queue is dead: this process gives up its part of the deliveries')
    await untilAlive(queue, signal)
    if (!signal.aborted) log.info({}, 'the webhook queue answers again')
  }
}

/** @returns why it is dead; nothing when `signal` is aborted before that */
async function untilDead (queue: Queue, signal: AbortSignal): Promise<string | undefined> {
  while (!signal.aborted) {
    try {
      queue.assertAlive()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    await beat(lookEveryMs, signal)
  }
  return undefined
}

async function untilAlive (queue: Queue, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return queue.assertAlive()
    } catch {
      await beat(lookEveryMs, signal)
    }
  }
}
