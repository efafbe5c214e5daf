// What an assistant must be set to after a body, written from the interface and not from the code.
import { documentedDefaults } from '../../support/bodies/bodies.js'
import type { JsonObject } from '../../support/fuzz/bodies.js'

const required = [
  'assistant_name', 'voice_id', 'language', 'llm_model', 'calls_direction', 'engine_type', 'timezone',
  'initial_message', 'system_prompt'
]
const known = [...required, ...Object.keys(documentedDefaults)]

/** `before` with what an accepted body changes; of objects with a fixed shape only the known keys are kept. */
export function settingsAfter (before: JsonObject, body: JsonObject): JsonObject {
  const after = { ...before }
  for (const name of known) if (Object.hasOwn(body, name)) after[name] = body[name]
  const spelled = body['end_call_tool.description']
  if (spelled !== undefined && !Object.hasOwn(body, 'end_call_tool')) after.end_call_tool = { description: spelled }
  if (after.end_call_tool) after.end_call_tool = only(['description'], after.end_call_tool)
  after.post_call_schema = (after.post_call_schema as unknown[])
    .map((field) => only(['name', 'type', 'description'], field))
  if (body.webhook_url === null && !Object.hasOwn(body, 'is_webhook_active')) after.is_webhook_active = false
  return after
}

const only = (names: string[], value: unknown) =>
  Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => names.includes(name)))

/** The answer's `data` for an assistant with these settings. */
export const summaryOf = (
  id: number, { assistant_name: name, calls_direction: direction, engine_type: mode }: JsonObject, status = 'active'
): JsonObject =>
  ({ id, name, status, type: direction === 'receive' ? 'inbound' : 'outbound', mode })

/** Makes what fits the schema of an assistant fit the rules as well. */
export function soundAssistant (generated: JsonObject): JsonObject {
  const body = structuredClone(generated)
  const exactly: JsonObject = {
    voice_id: 1 + Number(body.voice_id) % 12,
    language: 'German',
    timezone: 'America/New_York',
    phone_number_id: 2,
    webhook_url: 'https://example.com/hooks?a=b'
  }
  for (const name of Object.keys(exactly)) if (body[name] != null) body[name] = exactly[name]
  if (Object.hasOwn(body, 'end_call_tool')) delete body['end_call_tool.description'] // they would have to be the same
  if (body.is_webhook_active === true) body.webhook_url = 'https://example.com/hooks'
  if (Array.isArray(body.post_call_schema)) {
    body.post_call_schema.forEach((field: JsonObject, index) => { field.name = `field_${index}` })
  }
  return body
}
