// Requests for a person's data as the log has them.
import { randomUUID } from 'node:crypto'
import { isUuid } from '../domain/json.js'
import { personRequestStream } from '../features/persons/events.js'
import { type PersonRequest, personRequestDecider } from '../features/persons/model.js'
import type { Streams } from '../log/event-log.js'
import { commandHandler, foldStream } from './handle.js'

/** More than a request has. */
const mostEvents = 10

/** With the position of its last event. Nothing when there is no such request. @throws EventStoreUnavailable */
export async function findRequest (
  streams: Pick<Streams, 'visit'>, id: string
): Promise<{ request: PersonRequest, position: bigint } | undefined> {
  if (!isUuid(id)) return undefined
  const { state, position } = await foldStream(streams, personRequestDecider, personRequestStream(id), mostEvents)
  return state && { request: state, position }
}

/** Appends how it ended, once. */
export async function endRequest (streams: Streams, id: string, isDone: boolean): Promise<void> {
  const now = new Date().toISOString()
  await commandHandler(streams)({
    aggregate: personRequestDecider,
    stream: personRequestStream(id),
    decide: (state) => personRequestDecider.decide({ type: 'end', isDone, now }, state),
    origin: { commandId: randomUUID(), correlationId: id }
  })
}

/** A database that was restored or replaced may know nothing of a request: then nobody does what it asks for. */
const surelyNotedAfterMs = 60_000

/**
 * The user's request; nothing when it is another's. One that has not ended, and that no worker knows, has failed.
 * @param noted what the workers know of it; asked first, as they forget it after its end is in the log
 */
export async function findOwnRequest (
  { streams, noted }: { streams: Pick<Streams, 'visit'>, noted (id: string): Promise<{ waits_for?: string } | undefined> },
  userId: string, id: string
): Promise<PersonRequest | undefined> {
  if (!isUuid(id)) return undefined
  const known = await noted(id)
  const { request } = await findRequest(streams, id) ?? {}
  if (request?.user_id !== userId) return undefined
  if (request.status !== 'processing') return request
  if (known) return { ...request, waits_for: known.waits_for }
  const isLost = Date.now() > Date.parse(request.requested_at) + surelyNotedAfterMs
  return isLost ? { ...request, status: 'failed' } : request
}
