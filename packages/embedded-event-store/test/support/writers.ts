// Writers that note what was acknowledged while the event store comes and goes.
import { setTimeout as delay } from 'node:timers/promises'
import {
  ANY, jsonEvent, NO_STREAM, WrongExpectedVersionError, type AppendExpectedRevision, type AppendResult, type EventData,
  type EventStoreDBClient
} from '@eventstore/db-client'

/** An append of events with these ids. */
export interface Attempt {
  ids: string[]
  /** Absent: it was not acknowledged. */
  answer?: AppendResult
  /** Unix ms of its first failure. */
  failedAt?: number
}

export interface Writing {
  client: EventStoreDBClient
  stream: string
  attempts: Attempt[]
  /** Ends it at once, whatever is under way. */
  stopped: AbortSignal
}

const newEvents = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Written', data: {} }))

/**
 * Appends 1 to 3 events after those that it knows to be there, the same ones again until they are acknowledged, and so
 * on.
 * @throws WrongExpectedVersionError when the stream does not end where the last answer said
 */
export async function insist (writing: Writing, isOver: () => boolean): Promise<void> {
  while (!isOver() && !writing.stopped.aborted) await insistOn(writing, newEvents(1 + writing.attempts.length % 3))
}

/** The next append of such a stream. */
export async function insistOn (writing: Writing, events: EventData[]): Promise<void> {
  const expected = writing.attempts.at(-1)?.answer?.nextExpectedRevision ?? NO_STREAM
  const attempt = newAttempt(writing, events)
  while (attempt.answer === undefined && !writing.stopped.aborted) await append(writing, events, expected, attempt)
}

/** Appends three events wherever the stream ends, once, and so on. What failed may be written or not. */
export async function giveUp (writing: Writing, isOver: () => boolean): Promise<void> {
  while (!isOver() && !writing.stopped.aborted) {
    const events = newEvents(3)
    await append(writing, events, ANY, newAttempt(writing, events))
  }
}

function newAttempt ({ attempts }: Writing, events: EventData[]): Attempt {
  const attempt: Attempt = { ids: events.map(({ id }) => id) }
  attempts.push(attempt)
  return attempt
}

async function append (
  { client, stream }: Writing, events: EventData[], expectedRevision: AppendExpectedRevision, attempt: Attempt
): Promise<void> {
  const patience = new AbortController() // the client itself may wait without end for a server that is gone
  try {
    const late = delay(15_000, undefined, { signal: patience.signal }).then(() => { throw new Error('No answer') })
    attempt.answer = await Promise.race([client.appendToStream(stream, events, { expectedRevision }), late])
  } catch (error) {
    if (error instanceof WrongExpectedVersionError) throw error
    attempt.failedAt ??= Date.now()
    await delay(5)
  } finally {
    patience.abort()
  }
}
