// What an assistant must be set to after a body, written from the interface and not from the code.
import type { JsonObject } from './bodies.js'

export const defaults: JsonObject = {
  phone_number_id: null,
  endpoint_type: 'vad',
  endpoint_sensitivity: 0.5,
  interrupt_sensitivity: 0.5,
  ambient_sound_volume: 0.5,
  post_call_evaluation: true,
  send_webhook_only_on_completed: true,
  include_recording_in_webhook: true,
  is_webhook_active: false,
  webhook_url: null,
  use_min_interrupt_words: false,
  min_interrupt_words: 0,
  variables: {},
  post_call_schema: [
    { name: 'status', type: 'bool', description: 'Whether the goal of the call was reached' },
    { name: 'summary', type: 'string', description: 'Summary of the call' }
  ],
  end_call_tool: null,
  llm_temperature: 0.1,
  voice_stability: 0.7,
  voice_similarity: 0.5,
  speech_speed: 1,
  allow_interruptions: true,
  filler_audios: false,
  re_engagement_interval: 30,
  max_call_duration: 600,
  max_silence_duration: 40,
  end_call_on_voicemail: true,
  noise_cancellation: true,
  record_call: false,
  who_speaks_first: 'AI assistant'
}

const required = ['assistant_name', 'voice_id', 'language', 'llm_model', 'calls_direction', 'engine_type', 'timezone', 'initial_message', 'system_prompt']
const known = [...required, ...Object.keys(defaults)]

/** `before` with what an accepted body changes; of objects with a fixed shape only the known keys are kept. */
export function settingsAfter (before: JsonObject, body: JsonObject): JsonObject {
  const after = { ...before }
  for (const name of known) if (Object.hasOwn(body, name)) after[name] = body[name]
  const spelled = body['end_call_tool.description']
  if (spelled !== undefined && !Object.hasOwn(body, 'end_call_tool')) after.end_call_tool = { description: spelled }
  if (after.end_call_tool) after.end_call_tool = only(['description'], after.end_call_tool)
  after.post_call_schema = (after.post_call_schema as unknown[]).map((field) => only(['name', 'type', 'description'], field))
  if (body.webhook_url === null && !Object.hasOwn(body, 'is_webhook_active')) after.is_webhook_active = false
  return after
}

const only = (names: string[], value: unknown) => Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => names.includes(name)))

/** The answer's `data` for an assistant with these settings. */
export const summaryOf = (id: number, { assistant_name: name, calls_direction: direction, engine_type: mode }: JsonObject): JsonObject =>
  ({ id, name, status: 'active', type: direction === 'receive' ? 'inbound' : 'outbound', mode })

/** Makes what fits the schema of an assistant fit the rules as well. */
export function soundAssistant (generated: JsonObject): JsonObject {
  const body = structuredClone(generated)
  const exactly: JsonObject = { voice_id: 1 + Number(body.voice_id) % 12, language: 'German', timezone: 'America/New_York', phone_number_id: 2, webhook_url: 'https://example.com/hooks?a=b#c' }
  for (const name of Object.keys(exactly)) if (body[name] != null) body[name] = exactly[name]
  if (body.is_webhook_active === true) body.webhook_url = 'https://example.com/hooks'
  if (Array.isArray(body.post_call_schema)) body.post_call_schema.forEach((field: JsonObject, index) => { field.name = `field_${index}` })
  return body
}
