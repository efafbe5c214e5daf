// Requests for a person's data: each is made once, and ends once.
import Type, { type Static } from 'typebox'
import { type Aggregate, type Circumstances, deciding, type DomainEvent } from '../../domain/events.js'
import { At, Nullable, PhoneNumber } from '../../domain/json.js'
import { notOwn, Rejection } from '../../domain/rejection.js'
import { typeInLog } from '../../domain/sealed.js'
import type { StoredEvent } from '../../domain/stored-event.js'
import { type PersonRequestEvent, personRequestEventTypes, type PersonRequestType, RequestType } from './events.js'

export interface PersonRequest {
  person_request_id: string
  user_id: string
  type: PersonRequestType
  number_digest: string
  status: 'processing' | 'completed' | 'failed'
  /** ISO 8601. */
  requested_at: string
  finished_at: string | null
  /** The workers know it; no event has it. */
  waits_for?: string | undefined
}

/** Undefined before its creation. */
type PersonRequestState = PersonRequest | undefined

type RequestPerson = Omit<Circumstances, 'ids'> & { kind: PersonRequestType, number_digest: string, commandId: string }

const personRequest: Aggregate<PersonRequestState, PersonRequestEvent> = {
  initialState: undefined,
  eventTypes: personRequestEventTypes,
  isWrittenOnce: true,
  skipsUnreadable: true,
  evolve (state, event) {
    switch (event.type) {
      case 'PersonRequested': return state ?? { ...event.data, status: 'processing', finished_at: null }
      case 'PersonRequestCompleted': return ended(state, 'completed', event.data.finished_at)
      case 'PersonRequestFailed': return ended(state, 'failed', event.data.finished_at)
      default: return event satisfies never
    }
  }
}

export const personRequestDecider = deciding(personRequest, {
  /** The command's id is the request's, so a retried command is the same request. */
  request ({ commandId: person_request_id, userId: user_id, kind: type, number_digest, now }: RequestPerson, state) {
    if (state) return []
    return [{ type: 'PersonRequested', data: { person_request_id, user_id, type, number_digest, requested_at: now } }]
  },
  /** `isDone`: all of it was done. If false, it never will be. */
  end ({ isDone, now }: { isDone: boolean, now: string }, state) {
    if (state?.status !== 'processing') return []
    const { person_request_id, user_id } = state
    const data = { person_request_id, user_id, finished_at: now }
    return [isDone ? { type: 'PersonRequestCompleted', data } : { type: 'PersonRequestFailed', data }]
  }
})

function ended (state: PersonRequestState, status: PersonRequest['status'], at: string): PersonRequestState {
  return state?.status === 'processing' ? { ...state, status, finished_at: at } : state
}

export const personRequestNotFound = () => notOwn('Person request')

export const PersonBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number of the person, in E.164 format.' })
}, { title: 'Person' })

export const ownNumber = 'is one of your own phone numbers, and no person'

const begun = {
  id: Type.String({ description: 'Id of the request.' }),
  type: RequestType,
  status: Type.Enum(['processing', 'completed', 'failed'], {
    title: 'PersonRequestStatus', description: 'Failed: it is not tried again.'
  })
}

export const BegunPersonRequest = Type.Object(begun, { title: 'BegunPersonRequest' })
export type BegunPersonRequest = Static<typeof BegunPersonRequest>

export const PersonRequestAnswer = Type.Object({
  ...begun,
  created_at: At(),
  finished_at: Nullable(At('ISO 8601, UTC. Null until it has ended.')),
  waits_for: Type.Optional(Type.String({
    description: 'Only of one that cannot go on: what it waits for. Where that is parked events, your operator has to act.'
  }))
}, { title: 'PersonRequest' })
export type PersonRequestAnswer = Static<typeof PersonRequestAnswer>

export const describeBegun = ({ person_request_id: id, type, status }: PersonRequest): BegunPersonRequest =>
  ({ id, type, status })

export const describePersonRequest = (request: PersonRequest): PersonRequestAnswer =>
  ({
    ...describeBegun(request),
    created_at: request.requested_at,
    finished_at: request.finished_at,
    ...request.waits_for !== undefined && { waits_for: request.waits_for }
  })

/** How long an export can be downloaded after its end, in milliseconds. */
const keptForMs = 24 * 3_600_000

/** Whether the export can still be downloaded. */
export function isKept ({ finished_at: at }: Pick<PersonRequest, 'finished_at'>, now: number): boolean {
  return at !== null && now < Date.parse(at) + keptForMs
}

export const exportGone = () => new Rejection('gone', 'There is no export, or none any more: ask for another one.')

/** Replaces events that nobody could read. No reader knows the type, so all skip it. */
export const streamErased = 'StreamErased'

const erasing: ReadonlySet<string> =
  new Set<DomainEvent['type'] | typeof streamErased>(['LeadErased', 'CallErased', 'BlacklistEntryErased', streamErased])

/** A stream that begins with one of these was not truncated. */
export const isErasing = (event: Pick<StoredEvent, 'type' | 'metadata'>): boolean => erasing.has(typeInLog(event))
