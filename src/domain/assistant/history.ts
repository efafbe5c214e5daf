// What changed when: the events of an assistant, each with the fields that it changed. Who changed it is not named:
// only its owner can.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import type { Json } from '../json.js'
import type { AssistantEvent } from './events.js'
import type { AssistantSettings } from './settings.js'

const AnyValue = (description: string) => Type.Unsafe<Json>({ description })

export const HistoryEntry = Type.Object({
  revision: Type.Integer({ minimum: 0, description: 'Of the assistant after the change; its ETag.' }),
  event: Type.Enum(['AssistantCreated', 'AssistantUpdated']),
  at: Type.String({ description: 'ISO 8601, UTC.', examples: ['2026-01-31T12:00:00.000Z'] }),
  changes: Type.Array(Type.Object({
    field: Type.String({ examples: ['assistant_name'] }),
    from: AnyValue('The value before; null for a new assistant.'),
    to: AnyValue('The value after.')
  }))
}, { title: 'HistoryEntry' })
export type HistoryEntry = Static<typeof HistoryEntry>

/** One entry for each event of an assistant's stream, in their order. */
export function historyOf (events: readonly AssistantEvent[]): HistoryEntry[] {
  let settings: Partial<AssistantSettings> = {}
  return events.map((event, index) => {
    const given = event.type === 'AssistantCreated' ? event.data.settings : event.data.changes
    const at = event.type === 'AssistantCreated' ? event.data.created_at : event.data.updated_at
    const changes = changesBetween(settings, given)
    settings = { ...settings, ...given }
    return { revision: index, event: event.type, at, changes }
  })
}

function changesBetween (before: object, given: Partial<AssistantSettings>): HistoryEntry['changes'] {
  return Object.entries(given).flatMap(([field, to]) => {
    const from: Json = Reflect.get(before, field) ?? null
    return Value.Equal(from, to) ? [] : { field, from, to: to ?? null }
  })
}
