// What happens to a user's phone number, on the stream `phonenumber-<id>`, and who holds a number, on
// `phoneholder-<digest of the number>`.
import Type, { type Static } from 'typebox'
import { Id, Instant, PhoneNumber } from '../../domain/json.js'
import { UserId } from '../api-keys/user.js'

const ids = { phone_number_id: Id({}), user_id: UserId }

export const PhoneNumberAdded = Type.Object({ ...ids, phone_number: PhoneNumber() })
export const PhoneNumberReleased = Type.Object({ ...ids, released_at: Instant() })
export const PhoneNumberClaimed = Type.Object(ids)
export const PhoneNumberFreed = Type.Object(ids)

export type PhoneNumberEvent =
  | { type: 'PhoneNumberAdded', data: Static<typeof PhoneNumberAdded> }
  | { type: 'PhoneNumberReleased', data: Static<typeof PhoneNumberReleased> }

export type HolderEvent =
  | { type: 'PhoneNumberClaimed', data: Static<typeof PhoneNumberClaimed> }
  | { type: 'PhoneNumberFreed', data: Static<typeof PhoneNumberFreed> }

export const phoneNumberStream = (phoneNumberId: number) => `phonenumber-${phoneNumberId}`

/** `digest` hides the phone number: one stream says who holds it. */
export const phoneHolderStream = (digest: string) => `phoneholder-${digest}`
