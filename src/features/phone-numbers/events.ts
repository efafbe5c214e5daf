// What happens to a user's phone number, on the stream `phonenumber-<id>`, and who holds a number, on
// `phoneholder-<digest of the number>`.
import Type from 'typebox'
import { Id, Instant, PhoneNumber, UserId } from '../../domain/json.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

const ids = { phone_number_id: Id({}), user_id: UserId }

export const phoneNumberEvents = {
  PhoneNumberAdded: firstVersion(Type.Object({ ...ids, phone_number: PhoneNumber() })),
  PhoneNumberReleased: firstVersion(Type.Object({ ...ids, released_at: Instant() }))
}
export type PhoneNumberEvent = EventOf<typeof phoneNumberEvents>
export const phoneNumberEventTypes = typesOf(phoneNumberEvents)

export const holderEvents = {
  PhoneNumberClaimed: firstVersion(Type.Object(ids)),
  PhoneNumberFreed: firstVersion(Type.Object(ids))
}
export type HolderEvent = EventOf<typeof holderEvents>

export const phoneNumberStream = (phoneNumberId: number) => `phonenumber-${phoneNumberId}`

/** `digest` hides the phone number: one stream says who holds it. */
export const phoneHolderStream = (digest: string) => `phoneholder-${digest}`
