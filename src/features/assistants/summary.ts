// What callers see of an assistant; write and read side use the same functions.
import Type, { type Static } from 'typebox'
import { Id } from '../../domain/json.js'
import { AssistantStatus } from './events.js'
import type { Assistant } from './evolve.js'
import { EngineType } from './settings.js'

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
