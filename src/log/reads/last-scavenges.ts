// What an event store tells of its past scavenges. Each member scavenges by itself, and tells its name.
import { AccessDeniedError, BACKWARDS, END, StreamNotFoundError } from '@eventstore/db-client'
import type { EventStoreConnection } from '../connection/connection.js'
import { readError } from '../errors.js'
import { collect } from './collect.js'

/** About the events of a hundred scavenges. */
const mostEvents = 1_000

/**
 * When the last successful scavenge of each member began, by the name that the member has for itself.
 * @returns nothing when the login may not read it; by default, a plain user may not
 * @throws EventStoreUnavailable
 */
export async function lastScavenges (
  connection: EventStoreConnection, answerWithinMs: number
): Promise<Map<string, Date> | undefined> {
  const options = { direction: BACKWARDS, fromRevision: END, maxCount: mostEvents, resolveLinkTos: true } as const
  try {
    const told = await connection.onLeader((session) =>
      collect(session, session.client.readStream('$scavenges', options), answerWithinMs))
    return lastOf(told.flatMap(({ event }) => event ? [event] : []))
  } catch (error) {
    if (error instanceof StreamNotFoundError) return new Map()
    if (error instanceof AccessDeniedError) return undefined
    throw readError(error)
  }
}

interface Told { type: string, data: unknown, created: Date }

/** @param told the newest first */
function lastOf (told: readonly Told[]): Map<string, Date> {
  const succeeded = new Set<string>()
  const last = new Map<string, Date>()
  for (const { type, data, created } of told) {
    const { scavengeId, nodeEndpoint, result } = Object(data)
    if (type === '$scavengeCompleted' && result === 'Success') succeeded.add(String(scavengeId))
    const isLast = type === '$scavengeStarted' && succeeded.has(String(scavengeId)) && !last.has(String(nodeEndpoint))
    if (isLast) last.set(String(nodeEndpoint), created)
  }
  return last
}
