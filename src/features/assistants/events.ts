// The one table of assistant fields: bodies, events, defaults and the API document derive from it. And what happens to
// an assistant, on the stream `assistant-<id>`.
import Type, { type Static } from 'typebox'
import { frontDesk } from '../../domain/examples.js'
import { AnyObject, GivenId, Id, Instant, Nullable, UserId, inWords, withoutNul } from '../../domain/json.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

/** Characters, both as it is sent and as it is called. */
export const longestUrl = 2_048

const Text = (maxLength: number | undefined, description: string, example: string) =>
  Type.String({ minLength: 1, ...(maxLength && { maxLength }), description, examples: [example] })
const Flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })
const Whole = (minimum: number, maximum: number, value: number, description: string) =>
  Type.Integer({ minimum, maximum, default: value, description })
const Share = (minimum: number, maximum: number, value: number, description: string) =>
  Type.Number({ minimum, maximum, default: value, description })

export const PostCallField = Type.Object({
  name: Type.String({
    minLength: 1,
    pattern: '^[A-Za-z0-9_]+$',
    description: 'Key of the extracted value; unique in the schema.',
    ...inWords('may only contain letters, digits and underscores')
  }),
  type: Type.Enum(['string', 'number', 'bool'], { title: 'PostCallType', description: 'Type of the extracted value.' }),
  description: Type.String({ minLength: 1, description: 'What the field represents.' })
}, { title: 'PostCallField' })
export type PostCallField = Static<typeof PostCallField>

export const EndCallTool = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 500, description: 'When the assistant should end the call.' }))
}, { title: 'EndCallTool', description: 'Lets the assistant end the call by itself; null removes the tool.' })

/** For the settings and for the summary. */
export const EngineType = (description: string) =>
  Type.Enum(['pipeline', 'multimodal'], { title: 'EngineType', description })

/** Every create must give these. */
export const required = {
  assistant_name: Type.String({
    minLength: 1, maxLength: 255, ...withoutNul, description: 'Name of the assistant.', examples: [frontDesk.assistant_name]
  }),
  voice_id: Id({ description: 'An available voice.', examples: [1] }),
  language: Text(100, 'Name of an available language.', frontDesk.language),
  llm_model: Text(100, 'Name of the LLM model.', frontDesk.llm_model),
  calls_direction: Type.Enum(['receive', 'make'], {
    title: 'CallsDirection', description: 'Whether the assistant takes calls or makes them.'
  }),
  engine_type: EngineType('Engine that runs the conversation.'),
  timezone: Text(undefined, 'IANA time zone of the form Area/City.', frontDesk.timezone),
  initial_message: Text(undefined, 'What the assistant speaks when the call starts.', frontDesk.initial_message),
  system_prompt: Text(undefined, 'Behaviour and personality of the assistant.', frontDesk.system_prompt)
}

/** Fields with a default: the public ones of the product that the interface comes from. */
export const optional = {
  phone_number_id: Nullable(Id({}), { default: null, description: 'A phone number of the user; null unassigns it.' }),
  endpoint_type: Type.Enum(['vad', 'ai'], {
    title: 'EndpointType', default: 'vad', description: 'Voice activity detection.'
  }),
  endpoint_sensitivity: Share(0, 5, 0.5, 'How quickly silence counts as the end of a turn.'),
  interrupt_sensitivity: Share(0, 5, 0.5, 'How easily the caller interrupts.'),
  ambient_sound_volume: Share(0, 1, 0.5, 'Volume of the ambient sound.'),
  post_call_evaluation: Flag(true, 'Evaluate the call after it ended.'),
  send_webhook_only_on_completed: Flag(true, 'Send webhooks only for completed calls.'),
  include_recording_in_webhook: Flag(true, 'Put the recording URL into the webhook payload.'),
  is_webhook_active: Flag(false, 'Webhook notifications on or off.'),
  webhook_url: Nullable(Type.String({ minLength: 1, maxLength: longestUrl }), {
    default: null,
    description: 'Absolute https URL; required when is_webhook_active is true; null removes it. Stored as it is called: ' +
      'without a fragment, the host in lower case.',
    examples: ['https://example.com/hooks/calls']
  }),
  use_min_interrupt_words: Flag(false, 'Apply min_interrupt_words.'),
  min_interrupt_words: Whole(0, 10, 0, 'Words the caller must say to interrupt.'),
  variables: AnyObject({ default: {}, description: 'Custom variables.' }),
  post_call_schema: Type.Array(PostCallField, {
    default: [
      { name: 'status', type: 'bool', description: 'Whether the goal of the call was reached' },
      { name: 'summary', type: 'string', description: 'Summary of the call' }
    ],
    description: 'Data to extract after the call; an explicit array replaces the default one.'
  }),
  end_call_tool: Nullable(EndCallTool, { default: null }),
  llm_temperature: Share(0, 1, 0.1, 'Randomness of the model.'),
  voice_stability: Share(0, 1, 0.7, 'Stability of the voice.'),
  voice_similarity: Share(0, 1, 0.5, 'Similarity to the original voice.'),
  speech_speed: Share(0.7, 1.2, 1, 'Multiplier of the speaking speed.'),
  allow_interruptions: Flag(true, 'The caller may interrupt.'),
  filler_audios: Flag(false, 'Play filler audio while processing.'),
  re_engagement_interval: Whole(7, 600, 30, 'Seconds of silence before the assistant speaks again.'),
  max_call_duration: Whole(20, 1200, 600, 'Longest call, in seconds.'),
  max_silence_duration: Whole(1, 120, 40, 'Longest silence, in seconds.'),
  end_call_on_voicemail: Flag(true, 'End the call when voicemail is detected.'),
  noise_cancellation: Flag(true, 'Noise cancellation on or off.'),
  record_call: Flag(false, 'Record the call.'),
  who_speaks_first: Type.Enum(['AI assistant', 'Customer'], {
    title: 'FirstSpeaker', default: 'AI assistant', description: 'Who opens the conversation.'
  })
}

/** Everything an assistant is set to: what events and answers carry. */
export const AssistantSettings = Type.Object({ ...required, ...optional }, { title: 'AssistantSettings' })
export type AssistantSettings = Static<typeof AssistantSettings>

/** A new copy of the default settings of the optional fields. */
export function defaultSettings (): Omit<AssistantSettings, keyof typeof required> {
  const defaults = Object.entries(optional)
    .map(([name, schema]) => [name, 'default' in schema ? schema.default : undefined])
  return structuredClone(Object.fromEntries(defaults))
}

const assistantStatuses = ['active', 'inactive'] as const
export type AssistantStatus = typeof assistantStatuses[number]

export const AssistantStatus = (options: object) =>
  Type.Enum([...assistantStatuses], { title: 'AssistantStatus', ...options })

const ids = { assistant_id: GivenId(), user_id: UserId }
const created = { ...ids, settings: AssistantSettings, created_at: Instant() }
const status = AssistantStatus({ description: 'Status that the assistant begins with.' })
const changes = Type.Partial(AssistantSettings, {
  title: 'AssistantSettingsChanges', description: 'Only fields whose value changes.'
})

export const assistantEvents = {
  /** Version 1 had no status: all its readers took a new assistant for active. */
  AssistantCreated: firstVersion(Type.Object(created))
    .next(Type.Object({ ...created, status }), (data) => ({ ...data, status: 'active' as const })),
  AssistantUpdated: firstVersion(Type.Object({ ...ids, changes, updated_at: Instant() })),
  AssistantActivated: firstVersion(Type.Object({ ...ids, activated_at: Instant() })),
  AssistantDeactivated: firstVersion(Type.Object({ ...ids, deactivated_at: Instant() })),
  AssistantDeleted: firstVersion(Type.Object({ ...ids, deleted_at: Instant() }))
}
export type AssistantEvent = EventOf<typeof assistantEvents>
export const assistantEventTypes = typesOf(assistantEvents)

export const assistantStream = (assistantId: number) => `assistant-${assistantId}`
