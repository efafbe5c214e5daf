// The rules for importing the lists of a catalogue: an entry that is there already adds no event.
import type { Decider } from '../../domain/events.js'
import type { CatalogEvent } from './events.js'

type Key = number | string

/** Entries, the newest first: adding one copies nothing, as a list may have 100,000. */
type Entries = { key: Key, name: string, earlier: Entries } | undefined

type EventOf<Type extends CatalogEvent['type']> = Extract<CatalogEvent, { type: Type }>

export const voicesDecider =
  listDecider<EventOf<'VoiceAdded'>>('VoiceAdded', ({ id, name }) => ({ type: 'VoiceAdded', data: { id, name } }), ({ id }) => id)
export const languagesDecider =
  listDecider<EventOf<'LanguageAdded'>>('LanguageAdded', ({ name }) => ({ type: 'LanguageAdded', data: { name } }))
export const modelsDecider =
  listDecider<EventOf<'ModelAdded'>>('ModelAdded', ({ name }) => ({ type: 'ModelAdded', data: { name } }))

/**
 * `added` makes the event that adds an entry, or renames it under its key; without unknown fields. If several entries
 * have one key, the last one counts.
 */
function listDecider<Event extends CatalogEvent> (
  type: Event['type'], added: (entry: Event['data']) => Event, keyOf: (entry: Event['data']) => Key = ({ name }) => name
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
