// Ends a process in time though a back end is silent: what waits for that would wait long, and in vain.
import { setTimeout as delay } from 'node:timers/promises'
import { endsWithin } from '../postgres/ends-within.js'

/** With what comes after it, less than five seconds. */
const silentMs = 3_000
const lastWordsMs = 1_300
const answersWithinMs = 1_500
const lookEveryMs = 200

export interface InReach {
  /** Each rejects when a back end is not there. */
  postgres (withinMs: number): Promise<unknown>
  queue (): Promise<unknown>
  /** Attempts of webhooks that are under way are made again later: a receiver that hangs has longer than we do. */
  handOver (): void
  /** Ends all connections to Postgres, so that what waits for an answer fails at once. */
  cutOff (): void
}

export interface Stopped {
  /** Postgres did not answer meanwhile. */
  postgresIsSilent: boolean
}

/**
 * Waits for `orderly`. Once a back end has been silent for three seconds, it waits little more than a second longer.
 * What is not over by then goes on without anybody waiting.
 */
export async function stopInTime (orderly: Promise<unknown>, reach: InReach): Promise<Stopped> {
  const over = new AbortController()
  const stopped = { postgresIsSilent: false }
  const ended = orderly.finally(() => over.abort())
  await Promise.race([ended, giveUp(reach, over.signal, stopped)]).finally(() => over.abort())
  return stopped
}

/** Resolves when there is nothing to wait for any more, as a back end is silent. */
async function giveUp (reach: InReach, over: AbortSignal, stopped: Stopped): Promise<void> {
  stopped.postgresIsSilent = await silence(reach, over)
  reach.handOver()
  if (stopped.postgresIsSilent) reach.cutOff()
  await delay(lastWordsMs)
}

/** Resolves when one of them has been silent for long. @returns whether Postgres is */
async function silence ({ postgres, queue }: InReach, over: AbortSignal): Promise<boolean> {
  let since: number | undefined
  for (;;) {
    const askedAt = performance.now()
    const [postgresIsThere, queueIsThere] = await Promise.all([isThere(postgres(answersWithinMs)), isThere(queue())])
    if (over.aborted) return await new Promise(() => {}) // it ended by itself
    since = postgresIsThere && queueIsThere ? undefined : since ?? askedAt
    if (since !== undefined && performance.now() - since >= silentMs) return !postgresIsThere
    await delay(lookEveryMs)
  }
}

async function isThere (answer: Promise<unknown>): Promise<boolean> {
  let answered = false
  await endsWithin(answersWithinMs, answer.then(() => { answered = true }))
  return answered
}
