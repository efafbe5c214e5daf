// An assistant: how its events add up, the rules that it has, and what callers see of it and of its history.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { type Aggregate, deciding, idAt, laterOf, type Circumstances } from '../../domain/events.js'
import { At, Id, type Json } from '../../domain/json.js'
import { idTaken, invalid, notOwn, ownedBy, topOf } from '../../domain/rejection.js'
import { AssistantStatus, EngineType, assistantEventTypes, type AssistantEvent, type AssistantSettings } from './events.js'
import { missingUrl, type AssistantChanges, type NewAssistant, type PastSettings } from './validate.js'

export interface Assistant {
  assistant_id: number
  user_id: string
  settings: AssistantSettings
  status: AssistantStatus
  created_at: string
  updated_at: string
  /** Deleted: for its user it does not exist. Its id is not given out again. */
  isDeleted?: true
}

/** An assistant together with the revision of its last event. */
export interface AssistantAtRevision extends Assistant {
  revision: number
  /** When the phone number in its settings was released; no event of the assistant says so. */
  number_released_at?: string
}

/** Undefined before its creation. */
export type AssistantState = Assistant | undefined

export function evolve (state: AssistantState, event: AssistantEvent): AssistantState {
  switch (event.type) {
    case 'AssistantCreated': {
      const { created_at, ...created } = event.data
      return { ...created, created_at, updated_at: created_at }
    }
    case 'AssistantUpdated': {
      const { changes, updated_at } = event.data
      return state && changed(state, { settings: { ...state.settings, ...changes } }, updated_at)
    }
    case 'AssistantActivated': return state && changed(state, { status: 'active' }, event.data.activated_at)
    case 'AssistantDeactivated': return state && changed(state, { status: 'inactive' }, event.data.deactivated_at)
    case 'AssistantDeleted': return state && changed(state, { isDeleted: true }, event.data.deleted_at)
    default: return event satisfies never
  }
}

const changed = (state: Assistant, changes: Partial<Assistant>, at: string): Assistant =>
  ({ ...state, ...changes, updated_at: laterOf(state.updated_at, at) })

/** `ids` holds the new assistant's. */
export type CreateAssistant = NewAssistant & Circumstances
export type UpdateAssistant = AssistantChanges & Omit<Circumstances, 'ids'>
export type RestoreAssistant = PastSettings & Omit<Circumstances, 'ids'>

const assistant: Aggregate<AssistantState, AssistantEvent> =
  { initialState: undefined, eventTypes: assistantEventTypes, evolve }

export const assistantDecider = deciding(assistant, {
  create ({ ids, userId, now, settings }: CreateAssistant, state) {
    if (state) throw idTaken()
    const data = { assistant_id: idAt(ids, 0), user_id: userId, settings, created_at: now, status: 'active' as const }
    return [{ type: 'AssistantCreated', data }]
  },
  update (command: UpdateAssistant, state) {
    const own = ownedBy(command.userId, state, assistantNotFound)
    const missing = missingUrl({ ...own.settings, ...command.given })
    if (missing) throw invalid({ [missing.field]: [missing.message] })
    return [...settingsChanged(own, command.given, command.now), ...statusChanged(own, command)]
  },
  /**
   * Only fields that differ must meet today's rules, as only they are set anew. A phone number that is gone never comes
   * back, even if the assistant still has it.
   */
  restore ({ userId, past, problems, now }: RestoreAssistant, state) {
    const own = ownedBy(userId, state, assistantNotFound)
    if (!past) throw invalid({ revision: ['must be a revision of the assistant'] })
    const changes = changedFields(own.settings, past)
    const counting = Object.entries(problems).filter(([field]) =>
      field === 'phone_number_id' || Object.hasOwn(changes, topOf(field)))
    if (counting.length > 0) throw invalid(Object.fromEntries(counting))
    return settingsChanged(own, past, now)
  },
  delete ({ userId, now }: Omit<Circumstances, 'ids'>, state) {
    const { assistant_id, user_id } = ownedBy(userId, state, assistantNotFound)
    return [{ type: 'AssistantDeleted', data: { assistant_id, user_id, deleted_at: now } }]
  }
})
export type AssistantCommand = Parameters<typeof assistantDecider.decide>[0]

function settingsChanged (
  { assistant_id, user_id, settings }: Assistant, given: Partial<AssistantSettings>, now: string
): AssistantEvent[] {
  const changes = changedFields(settings, given)
  if (Object.keys(changes).length === 0) return []
  return [{ type: 'AssistantUpdated', data: { assistant_id, user_id, changes, updated_at: now } }]
}

function statusChanged (
  { assistant_id, user_id, status: present }: Assistant, { status = present, now }: UpdateAssistant
): AssistantEvent[] {
  if (status === present) return []
  const ids = { assistant_id, user_id }
  if (status === 'active') return [{ type: 'AssistantActivated', data: { ...ids, activated_at: now } }]
  return [{ type: 'AssistantDeactivated', data: { ...ids, deactivated_at: now } }]
}

export const assistantNotFound = () => notOwn('Assistant', 'assistant-not-found')

function changedFields (current: AssistantSettings, given: Partial<AssistantSettings>): Partial<AssistantSettings> {
  const changed = Object.entries(given).filter(([name, value]) => !Value.Equal(Reflect.get(current, name), value))
  return Object.fromEntries(changed)
}

export const AssistantSummary = Type.Object({
  id: Id({ description: 'Unique identifier of the assistant.' }),
  name: Type.String({ description: 'Name of the assistant.' }),
  status: AssistantStatus({ description: 'Current status.' }),
  type: Type.Enum(['inbound', 'outbound'], {
    title: 'AssistantType', description: 'inbound for calls_direction receive, outbound for make.'
  }),
  mode: EngineType('Engine mode.')
}, { title: 'AssistantSummary' })
export type AssistantSummary = Static<typeof AssistantSummary>

export function summarize ({ assistant_id, settings, status }: Assistant): AssistantSummary {
  return {
    id: assistant_id,
    name: settings.assistant_name,
    status,
    type: settings.calls_direction === 'receive' ? 'inbound' : 'outbound',
    mode: settings.engine_type
  }
}

const AnyValue = (description: string) => Type.Unsafe<Json>({ description })

export const HistoryEntry = Type.Object({
  revision: Type.Integer({ minimum: 0, description: 'Revision of the assistant after the change: its ETag.' }),
  event: Type.Enum([...assistantEventTypes], { title: 'AssistantEventType' }),
  at: At(),
  changes: Type.Array(Type.Object({
    field: Type.String({ examples: ['assistant_name'] }),
    from: AnyValue('The value before; null for a new assistant.'),
    to: AnyValue('The value after.')
  }, { title: 'FieldChange' }))
}, { title: 'HistoryEntry' })
export type HistoryEntry = Static<typeof HistoryEntry>

/** Builds the entry of an event; `before` is the assistant before it. Names no user: only the owner can change it. */
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
