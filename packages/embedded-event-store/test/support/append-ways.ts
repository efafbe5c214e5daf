// Both ways to append, and what the tests of appends share.
import { randomUUID } from 'node:crypto'
import {
  jsonEvent, WrongExpectedVersionError, type AppendExpectedRevision, type EventStoreDBClient
} from '@eventstore/db-client'
import type { Test } from 'tap'
import { collect, refused } from './scratch-event-store.js'

export const event = (type = 'Happened') => jsonEvent({ type, data: { at: 1 } })
export const events = (count: number) => Array.from({ length: count }, () => event())

/** Credentials of its own make the client append by a call of its own. */
export const ways = {
  batch: {},
  unary: { credentials: { username: 'anyone', password: 'anything' } }
}

type Events = Parameters<EventStoreDBClient['appendToStream']>[1]

/** Appends and reads of one way. */
export function appending (client: EventStoreDBClient, name: keyof typeof ways) {
  return {
    stream: () => `${name}-${randomUUID()}`,
    append: (to: string, what: Events, expectedRevision: AppendExpectedRevision) =>
      client.appendToStream(to, what, { ...ways[name], expectedRevision }),
    idsOf: async (from: string) => (await collect(client.readStream(from))).map(({ event }) => event?.id)
  }
}

/** Asserts that an append is refused because its stream ends at `current`. */
export async function wrong (
  t: Test, call: Promise<unknown>, current: bigint | 'no_stream', expected: AppendExpectedRevision
): Promise<void> {
  await refused(t, call, WrongExpectedVersionError, { actualVersion: current, expectedVersion: expected })
}
