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
