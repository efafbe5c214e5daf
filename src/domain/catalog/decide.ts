// The rules for importing a catalogue: what is there already is no news, another owner is refused.
import type { Decider } from '../decider.js'
import { Rejection } from '../rejection.js'
import type { NewEvent } from '../stored-event.js'
import type { CatalogEvent } from './events.js'

type Named = { id?: number, name: string }
type EventOf<Type extends CatalogEvent['type']> = Extract<CatalogEvent, { type: Type }>

/** The names on one list, by id, or by themselves where there is no id. */
export type ListState = ReadonlyMap<number | string, string>

/** One of the three shared lists; an entry whose name changed is added again under its id. */
export function listDecider (type: 'VoiceAdded' | 'LanguageAdded' | 'ModelAdded'): Decider<ListState, EventOf<typeof type>, { entries: Named[] }> {
  const keyOf = (entry: Named) => entry.id ?? entry.name
  return {
    initialState: new Map(),
    evolve: (list, { data }) => new Map(list).set(keyOf(data), data.name),
    decide ({ entries }, list) {
      const listed = new Map(entries.map(({ id, name }) => [id ?? name, id === undefined ? { name } : { id, name }]))
      return [...listed].filter(([key, { name }]) => list.get(key) !== name).map(([, data]) => ({ type, data }))
    }
  }
}

type Campaign = { campaign_id: number, user_id: string, name: string }

export const campaignDecider: Decider<Campaign | undefined, EventOf<'CampaignCreated' | 'CampaignRenamed'>, Campaign> = {
  initialState: undefined,
  evolve: (_state, { data }) => data,
  decide (wanted, state): NewEvent[] {
    if (!state) return [{ type: 'CampaignCreated', data: wanted }]
    if (state.user_id !== wanted.user_id) throw otherOwner('campaign', wanted.campaign_id, state.user_id)
    return state.name === wanted.name ? [] : [{ type: 'CampaignRenamed', data: wanted }]
  }
}

type PhoneNumber = { phone_number_id: number, user_id: string, phone_number: string }

export const phoneNumberDecider: Decider<PhoneNumber | undefined, EventOf<'PhoneNumberAdded'>, PhoneNumber> = {
  initialState: undefined,
  evolve: (_state, { data }) => data,
  decide (wanted, state): NewEvent[] {
    if (!state) return [{ type: 'PhoneNumberAdded', data: wanted }]
    if (state.user_id !== wanted.user_id) throw otherOwner('phone number', wanted.phone_number_id, state.user_id)
    if (state.phone_number !== wanted.phone_number) {
      throw new Rejection('catalog-conflict', `phone number ${wanted.phone_number_id} is ${state.phone_number} already: give another number another id`)
    }
    return []
  }
}

function otherOwner (what: string, id: number, owner: string): Rejection {
  return new Rejection('catalog-conflict', `${what} ${id} belongs to user ${owner}: give another user's ${what} another id`)
}
