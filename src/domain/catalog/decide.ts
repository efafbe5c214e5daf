// The rules for importing a catalogue: what is there already adds nothing, another owner is refused.
import type { Decider } from '../decider.js'
import { Rejection } from '../rejection.js'
import type { CatalogEvent } from './events.js'
import { type Key, NameList } from './name-list.js'

type EventOf<Type extends CatalogEvent['type']> = Extract<CatalogEvent, { type: Type }>
type ListEvent = EventOf<'VoiceAdded' | 'LanguageAdded' | 'ModelAdded'>

interface List<Event extends ListEvent> {
  type: Event['type']
  /** Its id; where there is none, its name. */
  keyOf (entry: Event['data']): Key
  /** The event that adds an entry, or renames it under its id; without unknown fields. */
  added (entry: Event['data']): Event
}

export const voicesDecider = listDecider<EventOf<'VoiceAdded'>>({
  type: 'VoiceAdded',
  keyOf: ({ id }) => id,
  added: ({ id, name }) => ({ type: 'VoiceAdded', data: { id, name } })
})

export const languagesDecider = listDecider<EventOf<'LanguageAdded'>>({
  type: 'LanguageAdded',
  keyOf: ({ name }) => name,
  added: ({ name }) => ({ type: 'LanguageAdded', data: { name } })
})

export const modelsDecider = listDecider<EventOf<'ModelAdded'>>({
  type: 'ModelAdded',
  keyOf: ({ name }) => name,
  added: ({ name }) => ({ type: 'ModelAdded', data: { name } })
})

/** Of entries with the same key the last one counts. */
function listDecider<Event extends ListEvent> (
  { type, keyOf, added }: List<Event>
): Decider<NameList, Event, { entries: Event['data'][] }> {
  return {
    initialState: NameList.empty,
    eventTypes: [type],
    evolve: (list, { data }) => list.with(keyOf(data), data.name),
    decide ({ entries }, list) {
      const wanted = new Map(entries.map((entry) => [keyOf(entry), entry]))
      return [...wanted].filter(([key, { name }]) => list.get(key) !== name).map(([, entry]) => added(entry))
    }
  }
}

type Campaign = { campaign_id: number, user_id: string, name: string }

type CampaignEvent = EventOf<'CampaignCreated' | 'CampaignRenamed'>

export const campaignDecider: Decider<Campaign | undefined, CampaignEvent, Campaign> = {
  initialState: undefined,
  eventTypes: ['CampaignCreated', 'CampaignRenamed'],
  evolve: (_state, { data }) => data,
  decide (wanted, state) {
    if (!state) return [{ type: 'CampaignCreated', data: wanted }]
    if (state.user_id !== wanted.user_id) throw otherOwner('campaign', wanted.campaign_id, state.user_id)
    return state.name === wanted.name ? [] : [{ type: 'CampaignRenamed', data: wanted }]
  }
}

type PhoneNumber = { phone_number_id: number, user_id: string, phone_number: string }

export const phoneNumberDecider: Decider<PhoneNumber | undefined, EventOf<'PhoneNumberAdded'>, PhoneNumber> = {
  initialState: undefined,
  eventTypes: ['PhoneNumberAdded'],
  evolve: (_state, { data }) => data,
  decide (wanted, state) {
    if (!state) return [{ type: 'PhoneNumberAdded', data: wanted }]
    if (state.user_id !== wanted.user_id) throw otherOwner('phone number', wanted.phone_number_id, state.user_id)
    if (state.phone_number !== wanted.phone_number) {
      const taken = `phone number ${wanted.phone_number_id} is ${state.phone_number} already`
      throw new Rejection('catalog-conflict', `${taken}: give another number another id`)
    }
    return []
  }
}

function otherOwner (what: string, id: number, owner: string): Rejection {
  const taken = `${what} ${id} belongs to user ${owner}`
  return new Rejection('catalog-conflict', `${taken}: give another user's ${what} another id`)
}
