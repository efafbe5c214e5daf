// Reads requests for a person's data from the log, and ends them there.
import { randomUUID } from 'node:crypto'
import { isUuid } from '../domain/json.js'
import { personRequestStream } from '../features/persons/events.js'
import { type PersonRequest, personRequestDecider } from '../features/persons/model.js'
import type { Streams } from '../log/event-log.js'
import { commandHandler, foldStream } from './handle.js'

/** More events than a request has. */
const mostEvents = 10

/** The request and the position of its last event; undefined when there is none. @throws EventStoreUnavailable */
export async function findRequest (
  streams: Pick<Streams, 'visit'>, id: string
): Promise<{ request: PersonRequest, position: bigint } | undefined> {
  if (!isUuid(id)) return undefined
  const { state, position } = await foldStream(streams, personRequestDecider, personRequestStream(id), mostEvents)
  return state && { request: state, position }
}

/** Appends the end of the request, once. */
export async function endRequest (streams: Streams, id: string, isDone: boolean): Promise<void> {
  const now = new Date().toISOString()
  await commandHandler(streams)({
    aggregate: personRequestDecider,
    stream: personRequestStream(id),
    decide: (state) => personRequestDecider.decide({ type: 'end', isDone, now }, state),
    origin: { commandId: randomUUID(), correlationId: id }
  })
}

/** After this, a request without a row is lost: its database was restored or replaced. */
const surelyNotedAfterMs = 60_000

/**
 * The user's request; undefined when it is another user's. A request that has not ended and has no row has failed.
 * @param noted the row of the workers; read first, because they delete it once the end is in the log
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
