// Whether a user wants a number called, on the stream `blacklist-<digest of the user>-<digest of the number>`.
import Type, { type Static } from 'typebox'
import { GivenId, Instant, Nullable, PhoneNumber, UserId, withoutNul } from '../../domain/json.js'
import { Sealed } from '../../domain/sealed.js'
import { firstVersion } from '../../domain/upcast.js'

const ids = { blacklist_id: GivenId(), user_id: UserId }

const PhoneNumberBlacklisted = Type.Object({
  ...ids,
  phone_number: Nullable(PhoneNumber(), { description: 'Null where it was erased.' }),
  reason: Nullable(Type.String({ maxLength: 255, ...withoutNul }), { description: 'Null when none was given.' }),
  created_at: Instant()
})
/** Number and reason are sealed under the key of the number. */
export const blacklistedVersions =
  firstVersion(PhoneNumberBlacklisted, Type.Object({ ...ids, sealed: Sealed, created_at: Instant() }))

const PhoneNumberUnblacklisted = Type.Object({
  ...ids,
  phone_number: Type.Optional(PhoneNumber({ description: 'Absent where it was erased.' })),
  deleted_at: Instant()
})
export const unblacklistedVersions = firstVersion(
  PhoneNumberUnblacklisted, Type.Object({ ...ids, sealed: Type.Optional(Sealed), deleted_at: Instant() }))

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

/** The digest in the name of its stream stands for the number. */
export const BlacklistEntryErased = Type.Object({
  blacklist_id: GivenId(),
  user_id: UserId,
  created_at: Instant({ description: 'Of the entry.' }),
  erased_at: Instant()
})

type EntryErasedEvent = { type: 'BlacklistEntryErased', data: Static<typeof BlacklistEntryErased> }
