// What a caller sends to have a number not called, and the entry as callers see it.
import Type, { type Static } from 'typebox'
import { Id, Instant, Nullable, PhoneNumber, withoutNul } from '../../domain/json.js'
import type { Entry } from './decide.js'

export const BlacklistBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number in E.164 format that must not be called.' }),
  reason: Type.Optional(Type.String({ maxLength: 255, ...withoutNul, description: 'Why, in your words.' }))
}, { title: 'BlacklistEntryInput' })

export const EntryAnswer = Type.Object({
  id: Id({ description: 'What the entry is deleted by.' }),
  phone_number: Nullable(PhoneNumber(), { description: 'Null when the person was erased; the entry holds all the same.' }),
  reason: Nullable(Type.String(), { description: 'Null when none was given, or when the person was erased.' }),
  created_at: Instant({ description: 'ISO 8601, UTC.' })
}, { title: 'BlacklistEntry' })
export type EntryAnswer = Static<typeof EntryAnswer>

export const describeEntry = ({ blacklist_id: id, phone_number, reason, created_at }: Entry): EntryAnswer =>
  ({ id, phone_number, reason, created_at })
