// The rules for requests for a person's data: each is made once, and ends once.
import type { Circumstances, Decider } from '../../domain/decider.js'
import { Rejection } from '../../domain/rejection.js'
import { personRequestEventTypes, type PersonRequestEvent, type PersonRequestType } from './events.js'

export interface PersonRequest {
  person_request_id: string
  user_id: string
  type: PersonRequestType
  number_digest: string
  status: 'processing' | 'completed' | 'failed'
  /** ISO 8601. */
  requested_at: string
  finished_at: string | null
  /** No event says it: the workers do. */
  waits_for?: string | undefined
}

/** Nothing yet, or the request. */
export type PersonRequestState = PersonRequest | undefined

/** Its id is that of the command: the same command again is the same request. */
export type RequestPerson = {
  type: 'request', kind: PersonRequestType, number_digest: string, commandId: string
} & Omit<Circumstances, 'ids'>
/** `isDone`: all of it was done. Else it never will be. */
export interface EndRequest { type: 'end', isDone: boolean, now: string }

export const personRequestDecider: Decider<PersonRequestState, PersonRequestEvent, RequestPerson | EndRequest> = {
  initialState: undefined,
  eventTypes: personRequestEventTypes,
  ownerOf: (state) => state?.user_id,
  evolve (state, event) {
    switch (event.type) {
      case 'PersonRequested': return state ?? { ...event.data, status: 'processing', finished_at: null }
      case 'PersonRequestCompleted': return ended(state, 'completed', event.data.finished_at)
      case 'PersonRequestFailed': return ended(state, 'failed', event.data.finished_at)
      default: return event satisfies never
    }
  },
  decide (command, state) {
    switch (command.type) {
      case 'request': return request(command, state)
      case 'end': return end(command, state)
      default: return command satisfies never
    }
  }
}

function ended (state: PersonRequestState, status: PersonRequest['status'], at: string): PersonRequestState {
  return state?.status === 'processing' ? { ...state, status, finished_at: at } : state
}

function request (command: RequestPerson, state: PersonRequestState): PersonRequestEvent[] {
  if (state) return []
  const { commandId: person_request_id, userId: user_id, kind: type, number_digest, now } = command
  return [{ type: 'PersonRequested', data: { person_request_id, user_id, type, number_digest, requested_at: now } }]
}

function end ({ isDone, now }: EndRequest, state: PersonRequestState): PersonRequestEvent[] {
  if (state?.status !== 'processing') return []
  const { person_request_id, user_id } = state
  const data = { person_request_id, user_id, finished_at: now }
  return [isDone ? { type: 'PersonRequestCompleted', data } : { type: 'PersonRequestFailed', data }]
}

/** Also the answer to somebody else's request, so that nobody learns which ids exist. */
export function personRequestNotFound (): Rejection {
  return new Rejection('not-found', 'Person request not found or does not belong to the authenticated user')
}
