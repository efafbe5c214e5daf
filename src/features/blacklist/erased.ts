// What is left in the log of a do-not-call entry whose person was erased: that this person is not to be called.
import Type, { type Static } from 'typebox'
import { GivenId, Instant } from '../../domain/json.js'
import { UserId } from '../api-keys/user.js'

/** The digest in the name of its stream stands for the number. */
export const BlacklistEntryErased = Type.Object({
  blacklist_id: GivenId(),
  user_id: UserId,
  created_at: Instant({ description: 'Of the entry.' }),
  erased_at: Instant()
})

export type EntryErasedEvent = { type: 'BlacklistEntryErased', data: Static<typeof BlacklistEntryErased> }
