// What updating an assistant leads to.
import t from 'tap'
import { assistantDecider, evolve, summarize, type UpdateAssistant } from '../../../src/features/assistants/model.js'
import type { AssistantEvent, AssistantSettings } from '../../../src/features/assistants/events.js'
import { validateChanges, type AssistantBody, type AssistantFacts } from '../../../src/features/assistants/validate.js'
import { settings } from '../../support/events/call-events.js'
import { invalid, scenarios, type Refusal } from '../../support/commands/given.js'

const given = scenarios(assistantDecider)
const now = '2026-02-01T12:00:00.000Z'
const url = 'https://example.com/hook'
const allExists: AssistantFacts = { voiceExists: true, languageExists: true, ownsPhoneNumber: true }

interface Circumstances { userId?: string, refused?: Refusal['errors'], facts?: Partial<AssistantFacts> }

const created = (changes: Partial<AssistantSettings> = {}): AssistantEvent =>
  ({
    type: 'AssistantCreated',
    data: {
      assistant_id: 7, user_id: '1', settings: settings(changes), created_at: '2026-01-31T12:00:00.000Z', status: 'active'
    }
  })

const update = (body: AssistantBody, { userId = '1', refused, facts = {} }: Circumstances = {}) => (): UpdateAssistant =>
  ({ ...validateChanges({ body, ...(refused && { refused }) }, { ...allExists, ...facts }), userId, now })

const updated = (changes: Partial<AssistantSettings>): AssistantEvent[] =>
  [{ type: 'AssistantUpdated', data: { assistant_id: 7, user_id: '1', changes, updated_at: now } }]

t.test('an assistant that is not there or somebody else’s is not found', async (t) => {
  const unowned = { code: 'assistant-not-found' as const }
  given([]).when(update({})).then(t, unowned)
  given([created()]).when(update({}, { userId: '2' })).then(t, unowned)
  given([created()]).when(update({ is_webhook_active: true }, { userId: '2' })).then(t, unowned)
})

t.test('what is wrong with the body is told first, also for an assistant of another user', async (t) => {
  const refused = { voice_id: ['must be an integer'] }
  for (const state of [[], [created()]]) {
    for (const userId of ['1', '2']) given(state).when(update({}, { userId, refused })).then(t, invalid(refused))
    given(state).when(update({ webhook_url: null, is_webhook_active: true }, { refused })).then(t, invalid({
      ...refused, webhook_url: ['is required when is_webhook_active is true']
    }))
  }
})

t.test('an update that changes nothing leads to nothing', async (t) => {
  given([created()]).when(update({})).then(t, [])
  given([created()]).when(update({
    assistant_name: 'Front desk', variables: {}, webhook_url: null, nickname: 'x'
  } as AssistantBody)).then(t, [])
  given([created({ variables: { a: 1, b: [{ c: 2 }] } })]).when(update({ variables: { b: [{ c: 2 }], a: 1 } }))
    .then(t, [])
})

t.test('an event holds only what differs', async (t) => {
  given([created()]).when(update({ assistant_name: 'Front desk', llm_temperature: 0.2 }))
    .then(t, updated({ llm_temperature: 0.2 }))
  given([created(), ...updated({ llm_temperature: 0.2 })]).when(update({ llm_temperature: 0.1 }))
    .then(t, updated({ llm_temperature: 0.1 }))
})

t.test('only the top level merges: objects and arrays are replaced whole', async (t) => {
  const before = created({ variables: { a: 1, b: 2 }, end_call_tool: { description: 'x' } })
  given([before]).when(update({ variables: { a: 1 } })).then(t, updated({ variables: { a: 1 } }))
  given([before]).when(update({ post_call_schema: [] })).then(t, updated({ post_call_schema: [] }))
  given([before]).when(update({ end_call_tool: {} })).then(t, updated({ end_call_tool: {} }))
  given([before]).when(update({ end_call_tool: null })).then(t, updated({ end_call_tool: null }))
  given([before]).when(update({ 'end_call_tool.description': 'y' }))
    .then(t, updated({ end_call_tool: { description: 'y' } }))
})

t.test('null unassigns the phone number, and no number has to be owned for it', async (t) => {
  given([created({ phone_number_id: 3 })]).when(update(
    { phone_number_id: null }, { facts: { ownsPhoneNumber: false } }
  )).then(t, updated({ phone_number_id: null }))
  given([created()]).when(update({ phone_number_id: 4 }, { facts: { ownsPhoneNumber: false } }))
    .then(t, invalid({ phone_number_id: ['must be one of your phone numbers'] }))
})

t.test('a null URL also switches the webhook off', async (t) => {
  const on = created({ webhook_url: url, is_webhook_active: true })
  given([on]).when(update({ webhook_url: null })).then(t, updated({ webhook_url: null, is_webhook_active: false }))
  given([on]).when(update({ webhook_url: null, is_webhook_active: false }))
    .then(t, updated({ webhook_url: null, is_webhook_active: false }))
  given([created({ webhook_url: url })]).when(update({ webhook_url: null })).then(t, updated({ webhook_url: null }))
})

t.test('null together with true is refused on webhook_url', async (t) => {
  const missing = invalid({ webhook_url: ['is required when is_webhook_active is true'] })
  given([created({ webhook_url: url, is_webhook_active: true })])
    .when(update({ webhook_url: null, is_webhook_active: true })).then(t, missing)
  given([created()]).when(update({ is_webhook_active: true })).then(t, missing)
})

t.test('the webhook is judged on the merged state', async (t) => {
  given([created({ webhook_url: url })]).when(update({ is_webhook_active: true }))
    .then(t, updated({ is_webhook_active: true }))
  given([created()]).when(update({ is_webhook_active: true, webhook_url: url }))
    .then(t, updated({ is_webhook_active: true, webhook_url: url }))
  given([created({ webhook_url: url, is_webhook_active: true })]).when(update({ is_webhook_active: false }))
    .then(t, updated({ is_webhook_active: false }))
})

t.test('a stored URL that the body does not mention is not refused for it', async (t) => {
  const facts = { webhookUrlProblem: 'must be an https URL' }
  const stored = created({ webhook_url: 'http://old.example.com', is_webhook_active: true })
  given([stored]).when(update({ record_call: true }, { facts })).then(t, updated({ record_call: true }))
  given([stored]).when(update({ webhook_url: 'http://old.example.com' }, { facts }))
    .then(t, invalid({ webhook_url: ['must be an https URL'] }))
})

t.test('the summary says what the interface calls direction and engine', async (t) => {
  const state = given([created(), ...updated({ calls_direction: 'receive', engine_type: 'multimodal' })]).state()
  t.strictSame(state && summarize(state), {
    id: 7, name: 'Front desk', status: 'active', type: 'inbound', mode: 'multimodal'
  })
  t.equal(state?.created_at, '2026-01-31T12:00:00.000Z')
  t.equal(state?.updated_at, now)
  const fresh = evolve(undefined, created())
  t.match(fresh && summarize(fresh), { type: 'outbound', mode: 'pipeline' })
})
