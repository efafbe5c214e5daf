// The events of a command as they are appended: with ids that every try repeats, and with what caused them.
import { assertSound, currentVersion, type DomainEvent } from '../domain/events.js'
import { Rejection } from '../domain/rejection.js'
import { eventId } from '../log/stored.js'
import type { Proposed } from '../log/append-call.js'

export interface Sender {
  /** A UUID that stays the same when the command is tried again. */
  commandId: string
  correlationId: string
  /** Absent for the call engine and the command line. */
  userId?: string | undefined
  /** Whose persons the events name, where they do not say so themselves: nothing of others can be sealed. */
  ofUser?: string | undefined
  /** Of the span that led to the events, where tracing is on. */
  traceparent?: string | undefined
}

const usualLargestEvent = 900 * 1024

/** @throws Rejection `too-large`, UnsoundEvent */
export function proposed (events: DomainEvent[], sender: Sender, largestEvent = usualLargestEvent): Proposed[] {
  const { commandId, correlationId, userId, ofUser, traceparent } = sender
  const caused = { $correlationId: correlationId, $causationId: commandId, command_id: commandId }
  const sentBy = userId !== undefined && { user_id: userId }
  const traced = traceparent !== undefined && { traceparent }
  return events.map((event, index) => {
    const { type, data } = event
    assertSound(event)
    const bytes = Buffer.byteLength(JSON.stringify(data))
    if (bytes > largestEvent) throw new Rejection('too-large', 'The request is too large.')
    const metadata = { ...caused, schema_version: currentVersion(type), ...sentBy, ...traced }
    return { id: eventId(commandId, index), type, data, metadata, ...(ofUser !== undefined && { ofUser }) }
  })
}
