// Who holds a phone number: one claim at a time, of all users.
import type { Decider } from '../../domain/decider.js'
import type { HolderEvent } from './events.js'

/** The number under whose id it is held, and whose that is. */
export interface Holder { phone_number_id: number, user_id: string }

/** Nobody, or the holder. */
export type HolderState = Holder | undefined

/** `ended` are the ids of claims that hold nothing any more. */
export type ClaimNumber = { type: 'claim', ended: ReadonlySet<number> } & Holder
export type FreeNumber = { type: 'free', phone_number_id: number }
export type HolderCommand = ClaimNumber | FreeNumber

/** Where another holds the number, a claim leads to nothing: the state says who. */
export const holderDecider: Decider<HolderState, HolderEvent, HolderCommand> = {
  initialState: undefined,
  eventTypes: ['PhoneNumberClaimed', 'PhoneNumberFreed'],
  evolve: evolveHolder,
  decide (command, state) {
    switch (command.type) {
      case 'claim': return claim(command, state)
      case 'free': return state?.phone_number_id === command.phone_number_id ? [freed(state)] : []
      default: return command satisfies never
    }
  }
}

function evolveHolder (state: HolderState, { type, data }: HolderEvent): HolderState {
  switch (type) {
    case 'PhoneNumberClaimed': return data
    case 'PhoneNumberFreed': return state?.phone_number_id === data.phone_number_id ? undefined : state
    default: return type satisfies never
  }
}

function claim ({ phone_number_id, user_id, ended }: ClaimNumber, state: HolderState): HolderEvent[] {
  const claimed: HolderEvent = { type: 'PhoneNumberClaimed', data: { phone_number_id, user_id } }
  if (!state) return [claimed]
  const isOver = state.phone_number_id !== phone_number_id && ended.has(state.phone_number_id)
  return isOver ? [freed(state), claimed] : []
}

const freed = ({ phone_number_id, user_id }: Holder): HolderEvent =>
  ({ type: 'PhoneNumberFreed', data: { phone_number_id, user_id } })
