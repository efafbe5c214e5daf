// What routes that ask for something about a person have in common.
import Type, { type Static } from 'typebox'
import type { PhoneHash } from '../../command-handling/phone-hash.js'
import type { PersonRequestState } from '../../domain/person/decide.js'
import type { PersonRequestType } from '../../domain/person/events.js'
import { BegunPersonRequest, describeBegun, type PersonBody } from '../../domain/person/summary.js'
import { soundBody, type Submitted } from '../../domain/validation.js'
import type { Handled, HandleRoute } from '../../http/command-route.js'

export interface NewPersonRequest { id: string, userId: string, phoneNumber: string }

export interface PersonDeps {
  handle: HandleRoute
  phoneHash: PhoneHash
  /** Keeps what is asked for, for the workers; false when the user has asked for so much that no more is taken. */
  notePersonRequest (request: NewPersonRequest): Promise<boolean>
  /** The same for an erasure, which is worked on once it is accepted: after its event. */
  noteErasure (request: NewPersonRequest): Promise<boolean>
  acceptErasure (id: string): Promise<void>
}

export const Begun = Type.Object(
  { message: Type.String(), data: BegunPersonRequest }, { title: 'BegunPersonRequestAnswer' })

export function asked (kind: PersonRequestType, submitted: Submitted<Static<typeof PersonBody>>, digest: PhoneHash) {
  return { type: 'request' as const, kind, number_digest: digest(soundBody(submitted, []).phone_number) }
}

export function begunOf ({ state }: Handled<PersonRequestState>): BegunPersonRequest {
  if (!state) throw new Error('a handled command left no request')
  return describeBegun(state)
}
