// What is left in the log of a do-not-call entry whose person was erased: that this person is not to be called.
import Type, { type Static } from 'typebox'
import { GivenId, Instant } from '../json.js'
import { UserId } from '../user.js'
import type { BlacklistEvent } from './events.js'

/** The digest in the name of its stream stands for the number. */
export const BlacklistEntryErased = Type.Object({
  blacklist_id: GivenId(),
  user_id: UserId,
  created_at: Instant({ description: 'Of the entry.' }),
  erased_at: Instant()
})

export type EntryErasedEvent = { type: 'BlacklistEntryErased', data: Static<typeof BlacklistEntryErased> }

/** An entry as readers have it. */
export interface KnownEntry { blacklist_id: number, user_id: string, created_at: string, isDeleted: boolean }

/**
 * What stands for all events of a stream, from its entries in their order. The person is still not to be called, if
 * they were not: that is all that stays. Ids are not given out again.
 */
export function erasedEntries (entries: readonly KnownEntry[], now: string): BlacklistEvent[] {
  return entries.flatMap(({ blacklist_id, user_id, created_at, isDeleted }) => {
    const data = { blacklist_id, user_id, created_at, erased_at: now }
    const erased: BlacklistEvent = { type: 'BlacklistEntryErased', data }
    if (!isDeleted) return [erased]
    return [erased, { type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, deleted_at: now } }]
  })
}
