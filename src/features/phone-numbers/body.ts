// What a caller sends to add a phone number, and what callers see of it.
import Type, { type Static } from 'typebox'
import { Id, PhoneNumber } from '../../domain/json.js'

export const PhoneNumberBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number in E.164 format, which nobody else has.' })
}, { title: 'PhoneNumberInput' })

export const PhoneNumberAnswer = Type.Object({
  id: Id({ description: 'The phone_number_id of an assistant.' }), phone_number: PhoneNumber()
}, { title: 'PhoneNumber' })
export type PhoneNumberAnswer = Static<typeof PhoneNumberAnswer>
