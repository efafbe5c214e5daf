// Whether a user wants a number called, on the stream `blacklist-<digest of the user>-<digest of the number>`.
import Type from 'typebox'
import { GivenId, Instant, Nullable, PhoneNumber, UserId, withoutNul } from '../../domain/json.js'
import { Sealed } from '../../domain/sealed.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

const ids = { blacklist_id: GivenId(), user_id: UserId }

export const blacklistEvents = {
  /** Number and reason are sealed under the key of the number. */
  PhoneNumberBlacklisted: firstVersion(Type.Object({
    ...ids,
    phone_number: Nullable(PhoneNumber(), { description: 'Null where it was erased.' }),
    reason: Nullable(Type.String({ maxLength: 255, ...withoutNul }), { description: 'Null when none was given.' }),
    created_at: Instant()
  }), Type.Object({ ...ids, sealed: Sealed, created_at: Instant() })),
  PhoneNumberUnblacklisted: firstVersion(Type.Object({
    ...ids,
    phone_number: Type.Optional(PhoneNumber({ description: 'Absent where it was erased.' })),
    deleted_at: Instant()
  }), Type.Object({ ...ids, sealed: Type.Optional(Sealed), deleted_at: Instant() })),
  /** The digest in the stream's name stands for the number. */
  BlacklistEntryErased: firstVersion(Type.Object({
    ...ids, created_at: Instant({ description: 'When the entry was added.' }), erased_at: Instant()
  }))
}
export type BlacklistEvent = EventOf<typeof blacklistEvents>
export const blacklistEventTypes = typesOf(blacklistEvents)

/** The digests hide user and number: one stream says whether this user may have this number called. */
export const blacklistStream = (userDigest: string, numberDigest: string) => `blacklist-${userDigest}-${numberDigest}`

/** Only a process with the key could check the digests. The name becomes a key of rows, so it is short. */
export const isBlacklistStream = (stream: string) => /^blacklist-[0-9a-f]{1,64}-[0-9a-f]{1,64}$/.test(stream)
