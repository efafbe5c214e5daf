// The phone numbers of users. The stream of a number's holder decides who may have it.
import Type, { type Static } from 'typebox'
import { type Aggregate, deciding, idAt, type Circumstances, type Decider } from '../../domain/events.js'
import { Id, PhoneNumber } from '../../domain/json.js'
import { idTaken, invalid, notOwn, Rejection } from '../../domain/rejection.js'
import { phoneNumberEventTypes, type HolderEvent, type PhoneNumberEvent } from './events.js'

interface OwnedNumber {
  phone_number_id: number
  user_id: string
  /** Absent if a claim ended before the number was added: then it never will be under this id. */
  phone_number?: string
  /** Its user gave it back. The id is not given out again. */
  isReleased?: true
}

/** Undefined before its creation. */
export type NumberState = OwnedNumber | undefined

/** A number in a catalogue. */
export interface ImportNumber { phone_number_id: number, user_id: string, phone_number: string }

/** Ends a claim that led to no number, so that it never does. */
interface EndClaim { phone_number_id: number, user_id: string, now: string }

const phoneNumber: Aggregate<NumberState, PhoneNumberEvent> = {
  initialState: undefined,
  eventTypes: phoneNumberEventTypes,
  evolve
}

function evolve (state: NumberState, { type, data }: PhoneNumberEvent): NumberState {
  switch (type) {
    case 'PhoneNumberAdded': return state ?? data
    case 'PhoneNumberReleased': {
      const { phone_number_id, user_id } = data
      return { phone_number_id, user_id, ...state, isReleased: true }
    }
    default: return type satisfies never
  }
}

export const phoneNumberDecider = deciding(phoneNumber, {
  /** `ids` holds the new number's. */
  add ({ ids, userId, phone_number }: Circumstances & { phone_number: string }, state) {
    if (state?.phone_number !== undefined) throw idTaken()
    if (state) throw numberTaken() // another user who wanted it ended our claim
    return [{ type: 'PhoneNumberAdded', data: { phone_number_id: idAt(ids, 0), user_id: userId, phone_number } }]
  },
  release ({ userId, now }: Omit<Circumstances, 'ids'>, state) {
    if (state?.user_id !== userId || state.isReleased) throw numberNotFound()
    const { phone_number_id, user_id } = state
    return [{ type: 'PhoneNumberReleased', data: { phone_number_id, user_id, released_at: now } }]
  }
})

export const importedNumberDecider: Decider<NumberState, PhoneNumberEvent, ImportNumber> =
  { ...phoneNumber, decide: importNumber }

export const endedClaimDecider: Decider<NumberState, PhoneNumberEvent, EndClaim> = {
  ...phoneNumber,
  decide: ({ now, ...claim }, state) =>
    state ? [] : [{ type: 'PhoneNumberReleased', data: { ...claim, released_at: now } }]
}

/** A number that is there stays as it is, even if its user has released it since. */
function importNumber (wanted: ImportNumber, state: NumberState): PhoneNumberEvent[] {
  if (!state) return [{ type: 'PhoneNumberAdded', data: wanted }]
  const { phone_number_id: id } = wanted
  if (state.user_id !== wanted.user_id) {
    throw conflict(`phone number ${id} belongs to user ${state.user_id}: give another user's phone number another id`)
  }
  if (state.phone_number === undefined) throw conflict(`phone number ${id} was claimed in vain: give it another id`)
  if (state.phone_number !== wanted.phone_number) {
    throw conflict(`phone number ${id} is ${state.phone_number} already: give another number another id`)
  }
  return []
}

const conflict = (message: string) => new Rejection('catalog-conflict', message)

/** The same words for every holder, so that nobody learns who holds it. */
export const numberTaken = () => invalid({ phone_number: ['is taken already'] })

export const numberNotFound = () => notOwn('Phone number')

/** The id under which a number is held, and whose that is. */
export interface Holder { phone_number_id: number, user_id: string }

/** Undefined when nobody holds the number. */
export type HolderState = Holder | undefined

/** `ended` are the ids of claims that are over. */
export type ClaimNumber = { type: 'claim', ended: ReadonlySet<number> } & Holder
type FreeNumber = { type: 'free', phone_number_id: number }
export type HolderCommand = ClaimNumber | FreeNumber

/** If another user holds the number, a claim appends nothing: the state says who holds it. */
export const holderDecider: Decider<HolderState, HolderEvent, HolderCommand> = deciding({
  initialState: undefined, eventTypes: ['PhoneNumberClaimed', 'PhoneNumberFreed'], evolve: evolveHolder
}, {
  claim,
  free: (command: FreeNumber, state: HolderState) =>
    state?.phone_number_id === command.phone_number_id ? [freed(state)] : []
})

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

export const PhoneNumberBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number in E.164 format, which nobody else has.' })
}, { title: 'PhoneNumberInput' })

export const PhoneNumberAnswer = Type.Object({
  id: Id({ description: 'The phone_number_id of an assistant.' }), phone_number: PhoneNumber()
}, { title: 'PhoneNumber' })
export type PhoneNumberAnswer = Static<typeof PhoneNumberAnswer>
