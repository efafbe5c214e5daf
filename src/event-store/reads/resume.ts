// Where a subscription goes on after a position whose event may have been scavenged away.
import { setTimeout as delay } from 'node:timers/promises'
import { FORWARDS } from '@eventstore/db-client'
import type { StoredEvent } from '../../domain/stored-event.js'
import type { Session } from '../connection/session.js'
import { toStoredEvent } from '../stored.js'
import { collect } from './collect.js'

const answerWithinMs = 4_000

/**
 * The first event at `after` or behind it, on the member that the subscription will read; nothing when the log ends
 * before it. Servers before 24.10 start a subscription behind this event, also where it is not the one at `after`: so
 * it is delivered from this read, and the subscription begins behind it.
 */
async function firstFrom (session: Session, after: bigint): Promise<StoredEvent | undefined> {
  const fromPosition = { commit: after, prepare: after }
  const reading = session.client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1 })
  const [first] = await collect(session, reading, answerWithinMs)
  return first?.event && toStoredEvent(first.event)
}

/** Between two looks, in milliseconds. */
const lookEveryMs = 200

/** Waits for such an event; nothing when `isOver` says so first. */
export async function awaitFirstFrom (
  session: Session, after: bigint, isOver: () => boolean
): Promise<StoredEvent | undefined> {
  for (;;) {
    const first = await firstFrom(session, after)
    if (isOver()) return undefined
    if (first) return first
    await delay(lookEveryMs)
  }
}
