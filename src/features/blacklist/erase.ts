// The rules for erasing the person of a do-not-call entry.
import type { BlacklistEvent } from './events.js'

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
