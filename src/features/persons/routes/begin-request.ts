// What routes that ask for something about a person have in common.
import Type, { type Static } from 'typebox'
import type { PhoneClaims } from '../../../commands/phone-claims.js'
import type { PhoneHash } from '../../../commands/phone-hash.js'
import type { PersonRequestState } from '../decide.js'
import type { PersonRequestType } from '../events.js'
import { BegunPersonRequest, describeBegun, ownNumber, type PersonBody } from '../summary.js'
import { problem, soundBody, type Submitted } from '../../../domain/validation.js'
import type { Handled, HandleRoute } from '../../../http/command-route.js'

export interface NewPersonRequest { id: string, userId: string, phoneNumber: string }

export interface PersonDeps {
  handle: HandleRoute
  phoneHash: PhoneHash
  phoneClaims: Pick<PhoneClaims, 'isOwn'>
  /** Keeps what is asked for, for the workers; false when the user has asked for so much that no more is taken. */
  notePersonRequest (request: NewPersonRequest): Promise<boolean>
  /** The same for an erasure, which is worked on once it is accepted: after its event. */
  noteErasure (request: NewPersonRequest): Promise<boolean>
  acceptErasure (id: string): Promise<void>
}

export const Begun = Type.Object(
  { message: Type.String(), data: BegunPersonRequest }, { title: 'BegunPersonRequestAnswer' })

interface AskedFacts { isOwn: boolean }

/** What both look up and check: a number of the user's own stands in every call, of whomever. */
export function asked (
  kind: PersonRequestType, { phoneHash, phoneClaims }: Pick<PersonDeps, 'phoneHash' | 'phoneClaims'>,
  { id: correlationId, user }: { id: string, user: { id: string } }
) {
  return {
    async facts ({ phone_number: number }: Partial<Static<typeof PersonBody>>): Promise<AskedFacts> {
      const cause = { correlationId, userId: user.id }
      return { isOwn: number !== undefined && await phoneClaims.isOwn(user.id, number, cause) }
    },
    validate (submitted: Submitted<Static<typeof PersonBody>>, { isOwn }: Partial<AskedFacts>) {
      const { phone_number: number } = soundBody(submitted, [isOwn === true && problem('phone_number', ownNumber)])
      return { type: 'request' as const, kind, number_digest: phoneHash(number) }
    }
  }
}

export function begunOf ({ state }: Handled<PersonRequestState>): BegunPersonRequest {
  if (!state) throw new Error('a handled command left no request')
  return describeBegun(state)
}
