// The rules for assistants that need to know what they are now.
import Value from 'typebox/value'
import { idAt, type Circumstances, type Decider } from '../decider.js'
import { Rejection, invalid } from '../rejection.js'
import { assistantEventTypes, type AssistantEvent } from './events.js'
import { evolve, type AssistantState } from './evolve.js'
import type { AssistantSettings } from './settings.js'
import { missingUrl, type AssistantChanges, type NewAssistant } from './validate.js'

/** Its one id is the new assistant's. */
export type CreateAssistant = NewAssistant & Circumstances
export type UpdateAssistant = AssistantChanges & Omit<Circumstances, 'ids'>
export type AssistantCommand = CreateAssistant | UpdateAssistant

export const assistantDecider: Decider<AssistantState, AssistantEvent, AssistantCommand> = {
  initialState: undefined,
  eventTypes: assistantEventTypes,
  evolve,
  ownerOf: (state) => state?.user_id,
  decide (command, state) {
    switch (command.type) {
      case 'create': return create(command, state)
      case 'update': return update(command, state)
      default: return command satisfies never
    }
  }
}

function create ({ ids, userId, now, settings }: CreateAssistant, state: AssistantState): AssistantEvent[] {
  if (state) throw new Rejection('id-taken', 'The id was given out before: try again')
  const data = { assistant_id: idAt(ids, 0), user_id: userId, settings, created_at: now, status: 'active' as const }
  return [{ type: 'AssistantCreated', data }]
}

function update ({ userId, now, given }: UpdateAssistant, state: AssistantState): AssistantEvent[] {
  if (state?.user_id !== userId) throw assistantNotFound()
  const missing = missingUrl({ ...state.settings, ...given })
  if (missing) throw invalid({ [missing.field]: [missing.message] })
  const changes = changedFields(state.settings, given)
  if (Object.keys(changes).length === 0) return []
  const data = { assistant_id: state.assistant_id, user_id: userId, changes, updated_at: now }
  return [{ type: 'AssistantUpdated', data }]
}

/** Also the answer to somebody else's assistant, so that nobody learns which ids exist. */
export function assistantNotFound (): Rejection {
  return new Rejection('assistant-not-found', 'Assistant not found or does not belong to the authenticated user')
}

function changedFields (current: AssistantSettings, given: Partial<AssistantSettings>): Partial<AssistantSettings> {
  const changed = Object.entries(given).filter(([name, value]) => !Value.Equal(Reflect.get(current, name), value))
  return Object.fromEntries(changed)
}
