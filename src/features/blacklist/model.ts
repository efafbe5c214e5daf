// Numbers that a user does not want called: one entry a number at a time. An entry whose number was erased still holds,
// because the digest of a number finds its stream.
import Type, { type Static } from 'typebox'
import { type Circumstances, deciding, idAt } from '../../domain/events.js'
import { Id, Instant, Nullable, PhoneNumber, withoutNul } from '../../domain/json.js'
import { notOwn } from '../../domain/rejection.js'
import { type BlacklistEvent, blacklistEventTypes } from './events.js'

/** Numbers that their user does not want called. */
export type Listed = ReadonlySet<string>

export const onTheList = 'is on your do-not-call list'
export const staysListed = 'must stay blacklisted while the phone number is on your do-not-call list'

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

/** `isDeleted`: the number may be called again. */
type Entry = Extract<BlacklistEvent, { type: 'PhoneNumberBlacklisted' }>['data'] & { isDeleted?: true }

/** The newest entry; undefined before the first one. */
type EntryState = Entry | undefined

export const blacklistDecider = deciding({
  initialState: undefined, eventTypes: blacklistEventTypes, evolve: evolveEntry
}, {
  /**
   * `ids` holds the new entry's, unused where there is an entry. That stays as it is, even if the reason differs; one
   * without a number makes way for one with it.
   */
  add ({ ids, userId, now, ...entry }: Circumstances & { phone_number: string, reason: string | null }, state) {
    const { phone_number, reason } = entry
    const data = { blacklist_id: idAt(ids, 0), user_id: userId, phone_number, reason, created_at: now }
    const added: BlacklistEvent = { type: 'PhoneNumberBlacklisted', data }
    if (!state || state.isDeleted) return [added]
    if (state.phone_number !== null) return []
    const { blacklist_id, user_id } = state
    return [{ type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, deleted_at: now } }, added]
  },
  delete ({ blacklist_id, userId, now }: Omit<Circumstances, 'ids'> & { blacklist_id: number }, state) {
    if (state?.blacklist_id !== blacklist_id || state.user_id !== userId || state.isDeleted) throw entryNotFound()
    const { user_id, phone_number } = state
    const named = phone_number === null ? {} : { phone_number }
    return [{ type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, ...named, deleted_at: now } }]
  }
})

export const isListed = (state: EntryState): boolean => state !== undefined && !state.isDeleted

function evolveEntry (state: EntryState, { type, data }: BlacklistEvent): EntryState {
  switch (type) {
    case 'PhoneNumberBlacklisted': return data
    case 'PhoneNumberUnblacklisted':
      return state?.blacklist_id === data.blacklist_id ? { ...state, isDeleted: true } : state
    case 'BlacklistEntryErased': {
      const { blacklist_id, user_id, created_at } = data
      return { blacklist_id, user_id, created_at, phone_number: null, reason: null }
    }
    default: return type satisfies never
  }
}

export const entryNotFound = () => notOwn('Blacklist entry')

/** An entry in a read model. */
export interface KnownEntry { blacklist_id: number, user_id: string, created_at: string, isDeleted: boolean }

/**
 * Replaces all events of a stream, from its entries in order. All that stays is whether the person may be called, and
 * the ids, which are not given out again.
 */
export function erasedEntries (entries: readonly KnownEntry[], now: string): BlacklistEvent[] {
  return entries.flatMap(({ blacklist_id, user_id, created_at, isDeleted }) => {
    const data = { blacklist_id, user_id, created_at, erased_at: now }
    const erased: BlacklistEvent = { type: 'BlacklistEntryErased', data }
    if (!isDeleted) return [erased]
    return [erased, { type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, deleted_at: now } }]
  })
}
