// What happens to an assistant, on the stream `assistant-<id>`.
import Type, { type Static } from 'typebox'
import { GivenId, Instant, UserId } from '../../domain/json.js'
import { firstVersion } from '../../domain/upcast.js'
import { AssistantSettings } from './settings.js'

const assistantStatuses = ['active', 'inactive'] as const
export type AssistantStatus = typeof assistantStatuses[number]

export const AssistantStatus = (options: object) =>
  Type.Enum([...assistantStatuses], { title: 'AssistantStatus', ...options })

const created = {
  assistant_id: GivenId(),
  user_id: UserId,
  settings: AssistantSettings,
  created_at: Instant()
}
const AssistantCreatedV1 = Type.Object(created)

export const AssistantCreated = Type.Object({
  ...created,
  status: AssistantStatus({ description: 'Status that the assistant begins with.' })
})

/** Version 1 left the status to its readers, and to all of them a new assistant was active. */
export const assistantCreatedVersions = firstVersion(AssistantCreatedV1)
  .next(AssistantCreated, (data) => ({ ...data, status: 'active' as const }))

export const AssistantUpdated = Type.Object({
  assistant_id: GivenId(),
  user_id: UserId,
  changes: Type.Partial(AssistantSettings, {
    title: 'AssistantSettingsChanges', description: 'Only fields whose value changes.'
  }),
  updated_at: Instant()
})

const ids = { assistant_id: GivenId(), user_id: UserId }
export const AssistantActivated = Type.Object({ ...ids, activated_at: Instant() })
export const AssistantDeactivated = Type.Object({ ...ids, deactivated_at: Instant() })
export const AssistantDeleted = Type.Object({ ...ids, deleted_at: Instant() })

export type AssistantEvent =
  | { type: 'AssistantCreated', data: Static<typeof AssistantCreated> }
  | { type: 'AssistantUpdated', data: Static<typeof AssistantUpdated> }
  | { type: 'AssistantActivated', data: Static<typeof AssistantActivated> }
  | { type: 'AssistantDeactivated', data: Static<typeof AssistantDeactivated> }
  | { type: 'AssistantDeleted', data: Static<typeof AssistantDeleted> }

export const assistantEventTypes = [
  'AssistantCreated', 'AssistantUpdated', 'AssistantActivated', 'AssistantDeactivated', 'AssistantDeleted'
] as const
export const isAssistantEvent = (event: { type: string }): event is AssistantEvent =>
  assistantEventTypes.some((type) => type === event.type)

export const assistantStream = (assistantId: number) => `assistant-${assistantId}`
