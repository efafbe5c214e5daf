// What happens to an assistant, on the stream `assistant-<id>`.
import Type, { type Static } from 'typebox'
import { Id, Instant } from '../json.js'
import { UserId } from '../user.js'
import { AssistantSettings } from './settings.js'

export const AssistantCreated = Type.Object({
  assistant_id: Id({}),
  user_id: UserId,
  settings: AssistantSettings,
  created_at: Instant()
})

export const AssistantUpdated = Type.Object({
  assistant_id: Id({}),
  user_id: UserId,
  changes: Type.Partial(AssistantSettings, { description: 'Only fields whose value changes.' }),
  updated_at: Instant()
})

export type AssistantEvent =
  | { type: 'AssistantCreated', data: Static<typeof AssistantCreated> }
  | { type: 'AssistantUpdated', data: Static<typeof AssistantUpdated> }

export const assistantStream = (assistantId: number) => `assistant-${assistantId}`
