// Thousands of bodies at PUT /user/assistant/{id}: each is refused with a reason, or merged over the settings before.
// What an assistant must be set to after a body is written from the interface and not from the code.
import { documentedDefaults, newAssistant } from '../../support/bodies/bodies.js'
import { type JsonObject, fuzzBodies, type FuzzBody } from '../../support/fuzz/bodies.js'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { UpdateAssistantBody } from '../../../src/features/assistants/validate.js'
import {
  bodyCount, brokenRule, eventCounts, fuzzSeed, places, sender, sent, throwAll, type FuzzAnswer
} from '../../support/fuzz/rules.js'
import { testService } from '../../support/service.js'

const required = [
  'assistant_name', 'voice_id', 'language', 'llm_model', 'calls_direction', 'engine_type', 'timezone',
  'initial_message', 'system_prompt'
]
const known = [...required, ...Object.keys(documentedDefaults)]

/** `before` with what an accepted body changes; of objects with a fixed shape only the known keys are kept. */
function settingsAfter (before: JsonObject, body: JsonObject): JsonObject {
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
const summaryOf = (
  id: number, { assistant_name: name, calls_direction: direction, engine_type: mode }: JsonObject, status = 'active'
): JsonObject =>
  ({ id, name, status, type: direction === 'receive' ? 'inbound' : 'outbound', mode })

/** Makes what fits the schema of an assistant fit the rules as well. */
function soundAssistant (generated: JsonObject): JsonObject {
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

/** An assistant as it must be by now; nobody else updates it. */
interface Known { id: number, settings: JsonObject, status: string, revision: number }

const seed = fuzzSeed(t)
const bodies = fuzzBodies({ seed, count: bodyCount, schema: UpdateAssistantBody, sound: soundAssistant })
const service = await testService(t)
const send = await sender(t, service)
const assistants = await Promise.all(Array.from({ length: places }, async (): Promise<Known> => {
  const { body: { data } } = await send('POST', '/user/assistant', Buffer.from(JSON.stringify(newAssistant())))
  return { id: data.id, settings: { ...documentedDefaults, ...newAssistant() }, status: 'active', revision: 0 }
}))

t.test('every body is refused with a reason, or changes exactly what it names', async (t) => {
  let accepted = 0
  await throwAll(t, bodies, assistants, async (body, known) => {
    const answer = await send('PUT', `/user/assistant/${known.id}`, body.bytes)
    const { status } = answer
    if (status === 200) accepted += 1
    return {
      status,
      wrong: brokenRule(body, answer, [200, 400, 413, 422]) ??
      (status === 200 ? await difference(body, known, answer) : undefined)
    }
  })
  t.ok(accepted > bodies.length / 12, 'enough of them were accepted to mean something')
  const changes = assistants.reduce((sum, { revision }) => sum + revision, 0)
  const counts = await eventCounts(service)
  const written = ['AssistantUpdated', 'AssistantActivated', 'AssistantDeactivated']
    .reduce((sum, type) => sum + (counts.get(type) ?? 0), 0)
  t.equal(written, changes, 'what was refused, or changed nothing, wrote nothing')
})

t.test('nobody learns from any body whether an assistant is there', async (t) => {
  const theirs = (await service.call('POST', '/user/assistant', newAssistant(), { user: '2' })).body.data.id
  await throwAll(t, bodies.slice(0, 500).filter(({ kind }) =>
    kind !== 'valid'), Array.from({ length: places }), async (body) => {
    const answer = await send('PUT', '/user/assistant/999999', body.bytes)
    const another = await send('PUT', `/user/assistant/${theirs}`, body.bytes)
    const differs = isDeepStrictEqual([answer.status, answer.body], [another.status, another.body])
      ? undefined
      : 'an answer that tells them apart'
    return { status: answer.status, wrong: brokenRule(body, answer, [400, 404, 413, 422]) ?? differs }
  })
})

async function difference (
  body: FuzzBody, known: Known, { headers, body: { data } }: FuzzAnswer
): Promise<string | undefined> {
  const settings = settingsAfter(known.settings, sent(body))
  if (!isDeepStrictEqual(settings, known.settings)) known.revision += 1
  known.settings = settings
  const status = String(sent(body).status ?? known.status)
  if (status !== known.status) known.revision += 1
  known.status = status
  if (!isDeepStrictEqual(data, summaryOf(known.id, settings, status))) return `answered ${JSON.stringify(data)}`
  if (headers.etag !== `"${known.revision}"`) {
    return `is at revision ${String(headers.etag)}, and not at ${known.revision}`
  }
  const { status: code, body: found } = await send('GET', `/user/assistant/${known.id}`, undefined, {
    'x-read-position': String(headers['x-read-position'])
  })
  return code === 200 && isDeepStrictEqual(found.data.settings, settings)
    ? undefined
    : `read back ${code} ${JSON.stringify(found)}, and not ${JSON.stringify(settings)}`
}
