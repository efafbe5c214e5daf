// What changed when: the events of an assistant, each with the fields that it changed. Who changed it is not named:
// only its owner can.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import type { Json } from '../../domain/json.js'
import { assistantEventTypes, type AssistantEvent } from './events.js'
import type { AssistantState } from './evolve.js'

const AnyValue = (description: string) => Type.Unsafe<Json>({ description })

export const HistoryEntry = Type.Object({
  revision: Type.Integer({ minimum: 0, description: 'Of the assistant after the change; its ETag.' }),
  event: Type.Enum([...assistantEventTypes], { title: 'AssistantEventType' }),
  at: Type.String({ description: 'ISO 8601, UTC.', examples: ['2026-01-31T12:00:00.000Z'] }),
  changes: Type.Array(Type.Object({
    field: Type.String({ examples: ['assistant_name'] }),
    from: AnyValue('The value before; null for a new assistant.'),
    to: AnyValue('The value after.')
  }, { title: 'FieldChange' }))
}, { title: 'HistoryEntry' })
export type HistoryEntry = Static<typeof HistoryEntry>

/** What the history says of an event that came to the assistant as it was `before`. */
export function historyEntry (before: AssistantState, event: AssistantEvent): Omit<HistoryEntry, 'revision'> {
  const { at, given } = toldBy(event)
  return { event: event.type, at, changes: changesBetween({ ...before, ...before?.settings }, given) }
}

function toldBy ({ type, data }: AssistantEvent): { at: string, given: Record<string, Json> } {
  switch (type) {
    case 'AssistantCreated': return { at: data.created_at, given: data.settings }
    case 'AssistantUpdated': return { at: data.updated_at, given: data.changes }
    case 'AssistantActivated': return { at: data.activated_at, given: { status: 'active' } }
    case 'AssistantDeactivated': return { at: data.deactivated_at, given: { status: 'inactive' } }
    case 'AssistantDeleted': return { at: data.deleted_at, given: {} }
    default: return type satisfies never
  }
}

function changesBetween (before: object, given: Record<string, Json>): HistoryEntry['changes'] {
  return Object.entries(given).flatMap(([field, to]) => {
    const from: Json = Reflect.get(before, field) ?? null
    return Value.Equal(from, to) ? [] : { field, from, to: to ?? null }
  })
}
