// Events as the log holds them, for the dispatcher: one user with an assistant, a campaign and a lead.
import { randomUUID } from 'node:crypto'
import { assistantStream, defaultSettings, type AssistantSettings } from '../../../src/features/assistants/events.js'
import { type CallCompleted, callStream } from '../../../src/features/calls/events.js'
import { campaignStream } from '../../../src/features/campaigns/events.js'
import { currentVersion, type DomainEvent } from '../../../src/domain/events.js'
import { leadStream, type LeadStatus } from '../../../src/features/leads/events.js'
import type { Proposed } from '../../../src/log/connection.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { requiredFields } from '../bodies/bodies.js'

/** An event that anybody may append; without metadata it has the first version of its type. */
export interface Told {
  stream: string
  type: string
  data: object
  metadata?: Record<string, string>
  /** When it was recorded, if the log is made up; a real log sets it. */
  created?: Date
}

export const settings = (given: Partial<AssistantSettings> = {}): AssistantSettings => ({
  ...defaultSettings(),
  ...requiredFields,
  ...given
})

/** Events of the current version of their type, as the service writes them. */
export const tell = (stream: string, { type, data }: DomainEvent): Told =>
  ({ stream, type, data, metadata: { schema_version: currentVersion(type) } })

/** Appends keep the metadata as given; without it, the event has the first version of its type. */
export const proposed = ({ type, data, metadata = {} }: Pick<Told, 'type' | 'data' | 'metadata'>): Proposed =>
  ({ id: randomUUID(), type, data, metadata })

export const assistantCreated = (assistant_id: number, given: Partial<AssistantSettings> = {}, user_id = '1') =>
  tell(assistantStream(assistant_id), {
    type: 'AssistantCreated',
    data: { assistant_id, user_id, settings: settings(given), created_at: '2026-01-31T12:00:00.000Z', status: 'active' }
  })

export const assistantUpdated = (assistant_id: number, changes: Partial<AssistantSettings>, user_id = '1') =>
  tell(assistantStream(assistant_id), {
    type: 'AssistantUpdated',
    data: { assistant_id, user_id, changes, updated_at: '2026-01-31T12:00:00.000Z' }
  })

export const at = '2026-01-31T12:00:00.000Z'
export const assistantSwitched = (assistant_id: number, status: 'active' | 'inactive', user_id = '1') =>
  tell(assistantStream(assistant_id), status === 'active'
    ? { type: 'AssistantActivated', data: { assistant_id, user_id, activated_at: at } }
    : { type: 'AssistantDeactivated', data: { assistant_id, user_id, deactivated_at: at } })

export const assistantDeleted = (assistant_id: number, user_id = '1') =>
  tell(assistantStream(assistant_id), { type: 'AssistantDeleted', data: { assistant_id, user_id, deleted_at: at } })

export const campaign = (
  type: 'CampaignCreated' | 'CampaignRenamed', campaign_id: number, name: string, user_id = '1'
) => {
  const data = { campaign_id, user_id, name, source: 'user' as const }
  return tell(campaignStream(campaign_id), type === 'CampaignCreated'
    ? { type, data: { ...data, created_at: at } }
    : { type, data: { ...data, renamed_at: at } })
}

export const nameless = { customer_name: '', email: '' }

/** The id stands for the hash of the phone number. */
export const leadCreated = (lead_id: number, campaign_id: number, secondary: number[] = [], user_id = '1') =>
  tell(leadStream(campaign_id, String(lead_id)), {
    type: 'LeadCreated',
    data: {
      lead_id,
      user_id,
      campaign_id,
      phone_number: '+15551230001',
      variables: { zeta: 1, customer_name: 'Ada Example', email: 'ada@example.com' },
      secondary_contacts: secondary.map((id) => ({ id, phone_number: '+15551230002', variables: nameless })),
      created_at: '2026-01-31T12:00:00.000Z'
    }
  })

export const call = (call_id: string, given: Partial<CallCompleted> = {}): CallCompleted => ({
  call_id,
  assistant_id: 1,
  lead_id: null,
  status: 'completed',
  direction: 'outbound',
  from: '+15551230009',
  to: '+15551230001',
  started_at: '2026-01-31T12:00:00.000Z',
  ended_at: '2026-01-31T12:01:00.000Z',
  duration: 60,
  recording_url: 'https://recordings.example.com/1.mp3',
  transcript: [{ role: 'assistant', text: 'Hello', at: 0 }, { role: 'customer', text: 'Grüezi 👋', at: 1.5 }],
  input_variables: { name: 'Ada' },
  extracted_variables: { status: true },
  evaluation: { score: 0.5 },
  ...given
})

export const callCompleted = (call_id: string, given: Partial<CallCompleted> = {}) =>
  tell(callStream(call_id), { type: 'CallCompleted', data: call(call_id, given) })

/** Gives events consecutive positions in a made-up log. */
export function logOf () {
  const revisions = new Map<string, bigint>()
  let position = 0n
  return (told: Told[]): StoredEvent[] => told.map((event) => {
    const revision = revisions.get(event.stream) ?? 0n
    revisions.set(event.stream, revision + 1n)
    position += 100n
    const created = new Date('2026-01-31T12:01:02.345Z')
    const id = `00000000-0000-4000-8000-${String(position).padStart(12, '0')}`
    return { metadata: {}, created, ...event, id, revision, position }
  })
}

export const webhookTo = (url: string) => ({ is_webhook_active: true, webhook_url: url })

export const assistantTo = (url: string, id = 1, user = '1') => assistantCreated(id, webhookTo(url), user)

/** So many calls of one assistant, `call-<assistant>-0` and so on. */
export const callsOf = (assistant_id: number, count: number) =>
  Array.from({ length: count }, (_, n) => callCompleted(`call-${assistant_id}-${n}`, { assistant_id }))

const onLead = (lead_id: number, campaign_id: number, event: DomainEvent) =>
  tell(leadStream(campaign_id, String(lead_id)), event)

/** Replaces the contacts if any are given. */
export const leadUpdated = (
  lead_id: number, campaign_id: number, contacts?: number[], removed_contacts: number[] = [], user_id = '1'
) => onLead(lead_id, campaign_id, {
  type: 'LeadUpdated',
  data: {
    lead_id,
    user_id,
    campaign_id,
    changes: {
      variables: { customer_name: 'Changed', email: '' },
      ...(contacts && {
        secondary_contacts: contacts.map((id) => ({ id, phone_number: '+15551230002', variables: { ...nameless, id } }))
      })
    },
    removed_contacts,
    updated_at: at
  }
})

export const leadStatusChanged = (
  lead_id: number, campaign_id: number, status: LeadStatus, contact_id: number | null = null, user_id = '1'
) => onLead(lead_id, campaign_id, {
  type: 'LeadStatusChanged', data: { lead_id, user_id, campaign_id, contact_id, status, changed_at: at }
})

export const leadDeleted = (lead_id: number, campaign_id: number, user_id = '1') =>
  onLead(lead_id, campaign_id, { type: 'LeadDeleted', data: { lead_id, user_id, campaign_id, deleted_at: at } })
