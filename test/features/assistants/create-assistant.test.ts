// What creating an assistant leads to.
import t from 'tap'
import {
  givenSettings, validateNewAssistant, type AssistantBody, type AssistantFacts
} from '../../../src/features/assistants/validate.js'
import { assistantDecider, type CreateAssistant } from '../../../src/features/assistants/model.js'
import type { AssistantEvent, AssistantSettings } from '../../../src/features/assistants/events.js'
import { invalid, scenarios, type Refusal } from '../../support/commands/given.js'
import { requiredFields, documentedDefaults } from '../../support/bodies/bodies.js'

const given = scenarios(assistantDecider)
const now = '2026-01-31T12:00:00.000Z'
const allExists: AssistantFacts = { voiceExists: true, languageExists: true, ownsPhoneNumber: true }

interface Circumstances { refused?: Refusal['errors'], facts?: Partial<AssistantFacts> }

const create = (body: AssistantBody, { refused, facts = {} }: Circumstances = {}) => (): CreateAssistant => ({
  ...validateNewAssistant(
    { body: { ...requiredFields, ...body }, ...(refused && { refused }) }, { ...allExists, ...facts }
  ),
  ...{ ids: [7], userId: '1', now }
})

const created = (given: Partial<AssistantSettings>): AssistantEvent[] => {
  const settings = { ...requiredFields, ...documentedDefaults, ...given }
  return [{
    type: 'AssistantCreated', data: { assistant_id: 7, user_id: '1', settings, created_at: now, status: 'active' }
  }]
}

t.test('given fields replace their defaults, falsy ones and an explicit empty array too', async (t) => {
  const body = {
    endpoint_sensitivity: 0, allow_interruptions: false, post_call_schema: [], variables: { a: { b: null } }
  }
  given([]).when(create(body)).then(t, created(body))
})

t.test('two assistants never share a default object', async (t) => {
  t.not(create({})().settings.variables, create({})().settings.variables)
})

t.test('unknown fields, of the body and of schema items, are not stored', async (t) => {
  const item = { name: 'a', type: 'bool' as const, description: 'b' }
  const body = {
    nickname: 'x', post_call_schema: [{ ...item, extra: 1 }], end_call_tool: { description: 'c', extra: 1 }
  } as unknown as AssistantBody
  given([]).when(create(body)).then(t, created({ post_call_schema: [item], end_call_tool: { description: 'c' } }))
})

t.test('voice, language and phone number must exist; the model is not looked up', async (t) => {
  const facts = { voiceExists: false, languageExists: false, ownsPhoneNumber: false }
  given([]).when(create({ phone_number_id: 5, llm_model: 'any' }, { facts })).then(t, invalid({
    voice_id: ['must be an available voice'],
    language: ['must be an available language'],
    phone_number_id: ['must be one of your phone numbers']
  }))
  given([]).when(create({ phone_number_id: null }, { facts: { ownsPhoneNumber: false } })).then(t, created({}))
})

t.test('an active webhook needs a URL, and a URL alone does not switch it on', async (t) => {
  const missing = invalid({ webhook_url: ['is required when is_webhook_active is true'] })
  given([]).when(create({ is_webhook_active: true })).then(t, missing)
  given([]).when(create({ is_webhook_active: true, webhook_url: null })).then(t, missing)
  given([]).when(create({ webhook_url: 'https://example.com/x' }))
    .then(t, created({ webhook_url: 'https://example.com/x' }))
  given([]).when(create({ webhook_url: null })).then(t, created({}))
})

t.test('a webhook URL that may not be used is refused whether the webhook is active or not', async (t) => {
  const facts = { webhookUrlProblem: 'must be an https URL' }
  for (const is_webhook_active of [true, false]) {
    given([]).when(create({ webhook_url: 'ftp://x', is_webhook_active }, { facts }))
      .then(t, invalid({ webhook_url: ['must be an https URL'] }))
  }
})

t.test('what the schema refused and what the rules found is told together, once a field', async (t) => {
  const refused = {
    webhook_url: ['must be a string or null'],
    timezone: ['must be a string'],
    'post_call_schema.0.type': ['must be one of: …']
  }
  given([]).when(create({ is_webhook_active: true }, { refused, facts: { voiceExists: false } }))
    .then(t, invalid({ ...refused, voice_id: ['must be an available voice'] }))
})

t.test('an id whose stream exists is never used again, not even by the same user', async (t) => {
  given(created({})).when(create({})).then(t, { code: 'id-taken' })
})

t.test('a webhook URL is stored as it is called', async (t) => {
  const spellings = {
    'HTTPS://Example.COM:443/a/../b?c#d': 'https://example.com/b?c',
    'https://exämple.com/ü': 'https://xn--exmple-cua.com/%C3%BC',
    'https://example.com./': 'https://example.com./',
    'https://example.com': 'https://example.com'
  }
  for (const [webhook_url, stored] of Object.entries(spellings)) {
    t.equal(givenSettings({ webhook_url }).webhook_url, stored)
  }
  for (const odd of ['https:///x', 'https://a\\b', 'x', 'https://a b']) {
    t.equal(givenSettings({ webhook_url: odd }).webhook_url, odd, 'what is refused stays as it was sent')
  }
})
