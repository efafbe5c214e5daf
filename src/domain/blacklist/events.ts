// Whether a user wants a number called, on the stream `blacklist-<digest of the user>-<digest of the number>`.
import Type, { type Static } from 'typebox'
import { GivenId, Instant, Nullable, PhoneNumber, withoutNul } from '../json.js'
import { UserId } from '../user.js'
import type { EntryErasedEvent } from './erased.js'

const names = { blacklist_id: GivenId(), user_id: UserId, phone_number: PhoneNumber() }

export const PhoneNumberBlacklisted = Type.Object({
  ...names,
  reason: Nullable(Type.String({ maxLength: 255, ...withoutNul }), { description: 'Null when none was given.' }),
  created_at: Instant()
})
export const PhoneNumberUnblacklisted = Type.Object({
  ...names,
  phone_number: Type.Optional(PhoneNumber({ description: 'Absent where it was erased.' })),
  deleted_at: Instant()
})

export type BlacklistEvent =
  | { type: 'PhoneNumberBlacklisted', data: Static<typeof PhoneNumberBlacklisted> }
  | { type: 'PhoneNumberUnblacklisted', data: Static<typeof PhoneNumberUnblacklisted> }
  | EntryErasedEvent

export const blacklistEventTypes = [
  'PhoneNumberBlacklisted', 'PhoneNumberUnblacklisted', 'BlacklistEntryErased'
] as const

/** The digests hide user and number: one stream says whether this user may have this number called. */
export const blacklistStream = (userDigest: string, numberDigest: string) => `blacklist-${userDigest}-${numberDigest}`

/** Which digests are right only a process with their key can tell. */
export const isBlacklistStream = (stream: string) => /^blacklist-[^-]+-[^-]+$/.test(stream)
