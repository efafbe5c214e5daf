// The rules for numbers that a user does not want called: one entry a number at a time. One whose number was erased
// holds all the same, as its stream is found by the digest of the number.
import { idAt, type Circumstances, type Decider } from '../../domain/decider.js'
import { Rejection } from '../../domain/rejection.js'
import { blacklistEventTypes, type BlacklistEvent } from './events.js'

export interface Entry {
  blacklist_id: number
  user_id: string
  /** Null where it was erased. */
  phone_number: string | null
  reason: string | null
  /** ISO 8601. */
  created_at: string
  /** The number may be called again. */
  isDeleted?: true
}

/** No entry yet, or the newest one. */
export type EntryState = Entry | undefined

/** Its one id is that of the new entry, where there is none. */
export type AddEntry = { type: 'add', phone_number: string, reason: string | null } & Circumstances
export type DeleteEntry = { type: 'delete', blacklist_id: number } & Circumstances
export type BlacklistCommand = AddEntry | DeleteEntry

export const blacklistDecider: Decider<EntryState, BlacklistEvent, BlacklistCommand> = {
  initialState: undefined,
  eventTypes: blacklistEventTypes,
  evolve: evolveEntry,
  decide (command, state) {
    switch (command.type) {
      case 'add': return add(command, state)
      case 'delete': return remove(command, state)
      default: return command satisfies never
    }
  }
}

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

/** An entry that is there stays as it is, also with another reason; one without a number makes way for one with it. */
function add ({ ids, userId, now, phone_number, reason }: AddEntry, state: EntryState): BlacklistEvent[] {
  const data = { blacklist_id: idAt(ids, 0), user_id: userId, phone_number, reason, created_at: now }
  const added: BlacklistEvent = { type: 'PhoneNumberBlacklisted', data }
  if (!state || state.isDeleted) return [added]
  if (state.phone_number !== null) return []
  const { blacklist_id, user_id } = state
  return [{ type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, deleted_at: now } }, added]
}

function remove ({ blacklist_id, userId, now }: DeleteEntry, state: EntryState): BlacklistEvent[] {
  if (state?.blacklist_id !== blacklist_id || state.user_id !== userId || state.isDeleted) throw entryNotFound()
  const { user_id, phone_number } = state
  const named = phone_number === null ? {} : { phone_number }
  return [{ type: 'PhoneNumberUnblacklisted', data: { blacklist_id, user_id, ...named, deleted_at: now } }]
}

/** Also the answer to somebody else's entry, so that nobody learns which ids exist. */
export function entryNotFound (): Rejection {
  return new Rejection('not-found', 'Blacklist entry not found or does not belong to the authenticated user')
}
