// Makes up single events of a user: campaigns, assistants, leads and calls.
import { assistantStream, defaultSettings, type AssistantSettings } from '../../src/features/assistants/events.js'
import { campaignStream } from '../../src/features/campaigns/events.js'
import { type CallCompleted, callStatuses, callStream } from '../../src/features/calls/events.js'
import type { DomainEvent } from '../../src/domain/events.js'
import { leadStream } from '../../src/features/leads/events.js'
import type { Random } from '../support/random.js'
import { text, transcript } from '../support/speech.js'

export interface User {
  id: string
  campaigns: [number, ...number[]]
  assistants: [number, ...number[]]
  leads: number[]
}

export type Step = [stream: string, event: DomainEvent]

export const phoneNumber = (id: number) => `+1555${String(id).padStart(8, '0')}`

type CampaignChange = 'CampaignCreated' | 'CampaignRenamed'

export function campaign (
  chance: Random, { id: user_id }: User, type: CampaignChange, campaign_id: number, at: string
): Step {
  const data = { campaign_id, user_id, name: text(chance, 12), source: 'user' as const }
  return [campaignStream(campaign_id), type === 'CampaignCreated'
    ? { type, data: { ...data, created_at: at } }
    : { type, data: { ...data, renamed_at: at } }]
}

export function created (chance: Random, { id: user_id }: User, assistant_id: number, created_at: string): Step {
  const settings: AssistantSettings = {
    ...defaultSettings(),
    assistant_name: text(chance, 15),
    voice_id: chance.whole(1, 12),
    language: 'English',
    llm_model: 'gpt-4o',
    calls_direction: chance.pick(['receive', 'make']),
    engine_type: chance.pick(['pipeline', 'multimodal']),
    timezone: 'Europe/Amsterdam',
    initial_message: text(chance, 60),
    system_prompt: text(chance, chance.whole(400, 3_000)),
    is_webhook_active: true,
    webhook_url: `https://hooks.example.com/${user_id}`
  }
  const data = { assistant_id, user_id, settings, created_at, status: 'active' as const }
  return [assistantStream(assistant_id), { type: 'AssistantCreated', data }]
}

export function updated (chance: Random, { id: user_id, assistants }: User, updated_at: string): Step {
  const assistant_id = chance.pick(assistants)
  const changes = chance.pick<() => Partial<AssistantSettings>>([
    () => ({ system_prompt: text(chance, chance.whole(400, 3_000)) }),
    () => ({ initial_message: text(chance, 60), speech_speed: chance.whole(7, 12) / 10 }),
    () => ({ llm_temperature: chance.whole(0, 10) / 10 })
  ])()
  const data = { assistant_id, user_id, changes, updated_at }
  return [assistantStream(assistant_id), { type: 'AssistantUpdated', data }]
}

export function lead (chance: Random, user: User, lead_id: number, contacts: number, created_at: string): Step {
  const campaign_id = chance.pick(user.campaigns)
  const secondary_contacts = Array.from({ length: contacts }, (_, index) => {
    const id = lead_id + index + 1
    return { id, ...contact(chance, id) }
  })
  const data = { lead_id, user_id: user.id, campaign_id, ...contact(chance, lead_id), secondary_contacts, created_at }
  return [leadStream(campaign_id, chance.hex(32)), { type: 'LeadCreated', data }]
}

function contact (chance: Random, id: number) {
  const variables = {
    customer_name: text(chance, 12),
    email: `${chance.hex(8)}@example.com`,
    plan: chance.pick(['basic', 'plus', 'pro']),
    notes: text(chance, chance.whole(0, 160))
  }
  return { phone_number: phoneNumber(id), variables }
}

export function call (chance: Random, { assistants, leads }: User, call_id: string, ended_at: string): Step {
  const turns = transcript(chance)
  const duration = Math.ceil(turns.at(-1)?.at ?? 0) + 4
  const lead_id = leads[chance.whole(0, leads.length - 1)] ?? null
  const status = chance.chance(0.7) ? 'completed' : chance.pick(callStatuses)
  const data: CallCompleted = {
    call_id,
    assistant_id: chance.pick(assistants),
    lead_id,
    status,
    direction: chance.pick(['inbound', 'outbound']),
    from: '+15550000001',
    to: phoneNumber(lead_id ?? 0),
    started_at: new Date(Date.parse(ended_at) - duration * 1_000).toISOString(),
    ended_at,
    duration,
    recording_url: `https://recordings.example.com/${chance.uuid()}.mp3`,
    transcript: turns,
    input_variables: { customer_name: text(chance, 12) },
    extracted_variables: { status: chance.chance(0.6), summary: text(chance, chance.whole(80, 300)) },
    evaluation: { score: chance.whole(0, 100) / 100, reason: text(chance, chance.whole(40, 200)) }
  }
  return [callStream(call_id), { type: 'CallCompleted', data }]
}
