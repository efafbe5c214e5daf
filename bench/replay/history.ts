// Makes up the log of an installation: users with campaigns and assistants, leads that come in, calls that are made.
import { assistantStream } from '../../src/domain/assistant/events.js'
import { defaultSettings, type AssistantSettings } from '../../src/domain/assistant/settings.js'
import { callStatuses, callStream, type CallCompleted } from '../../src/domain/call/events.js'
import { catalogStreams } from '../../src/domain/catalog/events.js'
import { currentVersion, type DomainEvent } from '../../src/domain/events.js'
import { leadStream } from '../../src/domain/lead/events.js'
import { random, type Random } from '../support/random.js'
import { text, transcript } from '../support/speech.js'

/** An event and where it stands; `created` is Unix milliseconds. */
export type Happened = DomainEvent & {
  stream: string
  revision: number
  id: string
  metadata: Record<string, string>
  created: number
}

interface User { id: string, campaigns: [number, ...number[]], assistants: [number, ...number[]], leads: number[] }

const begin = Date.UTC(2026, 0, 1)
const userCount = (events: number) => Math.min(200, Math.ceil(events / 1_000))

/**
 * So many events, the same ones for the same numbers. After the catalogue half of them are calls of 1 to 44 turns and
 * a third are leads with up to three secondary contacts. The rest are changes of assistants and of campaigns' names.
 */
export function * history ({ events, seed }: { events: number, seed: number }): Generator<Happened, void> {
  const chance = random(seed)
  const revisions = new Map<string, number>()
  let count = 0
  const now = () => new Date(begin + count * 7_000).toISOString()
  for (const [stream, event] of happenings(chance, userCount(events), now)) {
    const revision = revisions.get(stream) ?? 0
    if (!stream.startsWith('lead-')) revisions.set(stream, revision + 1) // one lead a stream here, and there are many
    const metadata = event.type === 'CallCompleted' ? {} : metadataOf(chance, event)
    yield { ...event, stream, revision, id: chance.uuid(), metadata, created: begin + count * 7_000 }
    if (++count === events) return
  }
}

function metadataOf (chance: Random, { type }: DomainEvent): Record<string, string> {
  const commandId = chance.uuid()
  return {
    $correlationId: chance.uuid(),
    $causationId: commandId,
    command_id: commandId,
    schema_version: currentVersion(type)
  }
}

type Step = [stream: string, event: DomainEvent]

function * happenings (chance: Random, count: number, now: () => string): Generator<Step, void> {
  const users = [newUser(0), ...Array.from({ length: count - 1 }, (_, index) => newUser(index + 1))] as const
  yield * catalogue(chance, users, now)
  let [assistants, leads, calls] = [count, 0, 0]
  for (;;) {
    const user = chance.pick(users)
    const dice = chance.whole(0, 999)
    if (dice < 5) yield campaign(chance, user, 'CampaignRenamed', chance.pick(user.campaigns))
    else if (dice < 15) {
      user.assistants.push(++assistants)
      yield created(chance, user, assistants, now())
    } else if (dice < 135) yield updated(chance, user, now())
    else if (dice < 480) {
      const [id, contacts] = [leads + 1, chance.chance(0.3) ? chance.whole(1, 3) : 0]
      leads += 1 + contacts
      user.leads.push(id)
      yield lead(chance, user, id, contacts, now())
    } else yield call(chance, user, `call-${chance.chance(0.005) && calls > 0 ? calls : ++calls}`, now())
  }
}

function newUser (index: number): User {
  const campaign = index * 3 + 1
  const campaigns: User['campaigns'] = [campaign, campaign + 1, campaign + 2]
  return { id: String(index + 1), campaigns, assistants: [index + 1], leads: [] }
}

const languages = ['English', 'German', 'Dutch', 'French', 'Spanish']
const models = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1']

function * catalogue (chance: Random, users: readonly User[], now: () => string): Generator<Step, void> {
  for (let id = 1; id <= 12; id++) {
    yield [catalogStreams.voices, { type: 'VoiceAdded', data: { id, name: `Voice ${id}` } }]
  }
  for (const name of languages) yield [catalogStreams.languages, { type: 'LanguageAdded', data: { name } }]
  for (const name of models) yield [catalogStreams.models, { type: 'ModelAdded', data: { name } }]
  for (const user of users) {
    for (const id of user.campaigns) yield campaign(chance, user, 'CampaignCreated', id)
    const id = Number(user.id)
    const number = { phone_number_id: id, user_id: user.id, phone_number: phoneNumber(id) }
    yield [catalogStreams.phoneNumber(id), { type: 'PhoneNumberAdded', data: number }]
    yield created(chance, user, id, now())
  }
}

const phoneNumber = (id: number) => `+1555${String(id).padStart(8, '0')}`

type CampaignChange = 'CampaignCreated' | 'CampaignRenamed'

function campaign (chance: Random, { id: user_id }: User, type: CampaignChange, campaign_id: number): Step {
  return [catalogStreams.campaign(campaign_id), { type, data: { campaign_id, user_id, name: text(chance, 12) } }]
}

function created (chance: Random, { id: user_id }: User, assistant_id: number, created_at: string): Step {
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

function updated (chance: Random, { id: user_id, assistants }: User, updated_at: string): Step {
  const assistant_id = chance.pick(assistants)
  const changes = chance.pick<() => Partial<AssistantSettings>>([
    () => ({ system_prompt: text(chance, chance.whole(400, 3_000)) }),
    () => ({ initial_message: text(chance, 60), speech_speed: chance.whole(7, 12) / 10 }),
    () => ({ llm_temperature: chance.whole(0, 10) / 10 })
  ])()
  const data = { assistant_id, user_id, changes, updated_at }
  return [assistantStream(assistant_id), { type: 'AssistantUpdated', data }]
}

function lead (chance: Random, user: User, lead_id: number, contacts: number, created_at: string): Step {
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

function call (chance: Random, { assistants, leads }: User, call_id: string, ended_at: string): Step {
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
