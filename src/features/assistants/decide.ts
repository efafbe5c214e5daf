// The rules for assistants that need to know what they are now.
import Value from 'typebox/value'
import { idAt, type Circumstances, type Decider } from '../../domain/decider.js'
import { Rejection, invalid } from '../../domain/rejection.js'
import { topOf } from '../../domain/validation.js'
import { assistantEventTypes, type AssistantEvent } from './events.js'
import { evolve, type Assistant, type AssistantState } from './evolve.js'
import type { AssistantSettings } from './settings.js'
import { missingUrl, type AssistantChanges, type NewAssistant, type PastSettings } from './validate.js'

/** Its one id is the new assistant's. */
export type CreateAssistant = NewAssistant & Circumstances
export type UpdateAssistant = AssistantChanges & Omit<Circumstances, 'ids'>
export type RestoreAssistant = PastSettings & Omit<Circumstances, 'ids'>
export type DeleteAssistant = { type: 'delete' } & Omit<Circumstances, 'ids'>
export type AssistantCommand = CreateAssistant | UpdateAssistant | RestoreAssistant | DeleteAssistant

export const assistantDecider: Decider<AssistantState, AssistantEvent, AssistantCommand> = {
  initialState: undefined,
  eventTypes: assistantEventTypes,
  evolve,
  ownerOf: (state) => state?.user_id,
  decide (command, state) {
    switch (command.type) {
      case 'create': return create(command, state)
      case 'update': return update(command, state)
      case 'restore': return restore(command, state)
      case 'delete': return remove(command, state)
      default: return command satisfies never
    }
  }
}

function create ({ ids, userId, now, settings }: CreateAssistant, state: AssistantState): AssistantEvent[] {
  if (state) throw new Rejection('id-taken', 'The id was given out before: try again')
  const data = { assistant_id: idAt(ids, 0), user_id: userId, settings, created_at: now, status: 'active' as const }
  return [{ type: 'AssistantCreated', data }]
}

function update (command: UpdateAssistant, state: AssistantState): AssistantEvent[] {
  const own = ownOf(command, state)
  const missing = missingUrl({ ...own.settings, ...command.given })
  if (missing) throw invalid({ [missing.field]: [missing.message] })
  return [...settingsChanged(own, command.given, command.now), ...statusChanged(own, command)]
}

/**
 * Only what differs is held to today's rules, as only that is set anew. A phone number that is gone comes back in no
 * case, also where the assistant still has it.
 */
function restore (command: RestoreAssistant, state: AssistantState): AssistantEvent[] {
  const own = ownOf(command, state)
  const { past, problems, now } = command
  if (!past) throw invalid({ revision: ['must be a revision of the assistant'] })
  const changes = changedFields(own.settings, past)
  const counting = Object.entries(problems).filter(([field]) =>
    field === 'phone_number_id' || Object.hasOwn(changes, topOf(field)))
  if (counting.length > 0) throw invalid(Object.fromEntries(counting))
  return settingsChanged(own, past, now)
}

function remove (command: DeleteAssistant, state: AssistantState): AssistantEvent[] {
  const { assistant_id, user_id } = ownOf(command, state)
  return [{ type: 'AssistantDeleted', data: { assistant_id, user_id, deleted_at: command.now } }]
}

/** @throws Rejection `assistant-not-found` */
function ownOf ({ userId }: { userId: string }, state: AssistantState): Assistant {
  if (state?.user_id !== userId || state.isDeleted) throw assistantNotFound()
  return state
}

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

/** Also the answer to somebody else's assistant, so that nobody learns which ids exist. */
export function assistantNotFound (): Rejection {
  return new Rejection('assistant-not-found', 'Assistant not found or does not belong to the authenticated user')
}

function changedFields (current: AssistantSettings, given: Partial<AssistantSettings>): Partial<AssistantSettings> {
  const changed = Object.entries(given).filter(([name, value]) => !Value.Equal(Reflect.get(current, name), value))
  return Object.fromEntries(changed)
}
