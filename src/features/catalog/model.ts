// The rules for importing the lists of a catalogue: an entry that is there already adds no event.
import type { Decider } from '../../domain/events.js'
import type { CatalogEvent } from './events.js'

type Key = number | string

/** A change copies one bucket: with 100,000 names about a hundred entries. */
const bucketCount = 1_024

class NameList {
  static readonly empty = new NameList(Array.from({ length: bucketCount }, () => new Map<Key, string>()))

  private constructor (private readonly buckets: ReadonlyArray<ReadonlyMap<Key, string>>) {}

  get (key: Key): string | undefined {
    return this.buckets[bucketOf(key)]?.get(key)
  }

  with (key: Key, name: string): NameList {
    const at = bucketOf(key)
    return new NameList(this.buckets.with(at, new Map(this.buckets[at]).set(key, name)))
  }

  * [Symbol.iterator] (): Generator<[Key, string]> {
    for (const bucket of this.buckets) yield * bucket
  }
}

/** FNV-1a of its text: keys that differ a little lie in different buckets. */
function bucketOf (key: Key): number {
  let hash = 0x811c9dc5
  for (const character of String(key)) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % bucketCount
}

type EventOf<Type extends CatalogEvent['type']> = Extract<CatalogEvent, { type: Type }>
type ListEvent = EventOf<'VoiceAdded' | 'LanguageAdded' | 'ModelAdded'>

interface List<Event extends ListEvent> {
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
