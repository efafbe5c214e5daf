// The rules for importing the lists of a catalogue: what is there already adds nothing.
import type { Decider } from '../decider.js'
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
