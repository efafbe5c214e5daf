// The rules for importing the lists of a catalogue: an entry that is there already adds no event.
import type { Decider } from '../../domain/events.js'
import type { CatalogEvent } from './events.js'

type Key = number | string

/** Entries, the newest first: adding one copies nothing, as a list may have 100,000. */
type Entries = { key: Key, name: string, earlier: Entries } | undefined

type EventOf<Type extends CatalogEvent['type']> = Extract<CatalogEvent, { type: Type }>

interface List<Event extends CatalogEvent> {
  type: Event['type']
  /** The entry's id, or its name where it has no id. */
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

/** If several entries have one key, the last one counts. */
function listDecider<Event extends CatalogEvent> (
  { type, keyOf, added }: List<Event>
): Decider<Entries, Event, { entries: Event['data'][] }> {
  return {
    initialState: undefined,
    eventTypes: [type],
    evolve: (earlier, { data }) => ({ key: keyOf(data), name: data.name, earlier }),
    decide ({ entries }, newest) {
      const names = new Map<Key, string>()
      for (let at = newest; at; at = at.earlier) if (!names.has(at.key)) names.set(at.key, at.name)
      const wanted = new Map(entries.map((entry) => [keyOf(entry), entry]))
      return [...wanted].filter(([key, { name }]) => names.get(key) !== name).map(([, entry]) => added(entry))
    }
  }
}
