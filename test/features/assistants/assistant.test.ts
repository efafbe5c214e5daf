// Which events creating, updating, switching, deleting and restoring an assistant lead to.
import t from 'tap'
import {
  assistantDecider, type CreateAssistant, type RestoreAssistant, type UpdateAssistant
} from '../../../src/features/assistants/model.js'
import {
  type AssistantEvent, type AssistantSettings, type AssistantStatus, defaultSettings
} from '../../../src/features/assistants/events.js'
import {
  type AssistantBody, type AssistantFacts, givenSettings, type PastFacts, validateChanges, validateNewAssistant,
  validateRestore
} from '../../../src/features/assistants/validate.js'
import { requiredFields } from '../../support/bodies/bodies.js'
import { settings } from '../../support/events/call-events.js'
import { invalid, scenarios, type Refusal } from '../../support/commands/given.js'

const given = scenarios(assistantDecider)
const now = '2026-02-01T12:00:00.000Z'
const before = '2026-01-31T12:00:00.000Z'
const url = 'https://example.com/hook'
const ids = { assistant_id: 7, user_id: '1' }
const allExists: AssistantFacts = { voiceExists: true, languageExists: true, ownsPhoneNumber: true }
const unowned = { code: 'assistant-not-found' as const }

const created = (given: Partial<AssistantSettings> = {}): AssistantEvent =>
  ({ type: 'AssistantCreated', data: { ...ids, settings: settings(given), created_at: before, status: 'active' } })
const updated = (changes: Partial<AssistantSettings>): AssistantEvent =>
  ({ type: 'AssistantUpdated', data: { ...ids, changes, updated_at: now } })
const activated: AssistantEvent = { type: 'AssistantActivated', data: { ...ids, activated_at: now } }
const deactivated: AssistantEvent = { type: 'AssistantDeactivated', data: { ...ids, deactivated_at: now } }
const deleted: AssistantEvent = { type: 'AssistantDeleted', data: { ...ids, deleted_at: now } }

type Changes = AssistantBody & { status?: AssistantStatus }
interface Circumstances { userId?: string, refused?: Refusal['errors'], facts?: Partial<AssistantFacts> }

const create = (body: object = {}) => (): CreateAssistant =>
  ({ ...validateNewAssistant({ body: { ...requiredFields, ...body } }, allExists), ids: [7], userId: '1', now })
const update = (body: Changes, { userId = '1', refused, facts = {} }: Circumstances = {}) => (): UpdateAssistant =>
  ({ ...validateChanges({ body, ...(refused && { refused }) }, { ...allExists, ...facts }), userId, now })
const remove = (userId = '1') => ({ type: 'delete' as const, userId, now })
const restore = (facts: PastFacts, userId = '1') => (): RestoreAssistant =>
  ({ ...validateRestore({ body: { revision: 0 } }, { ...allExists, ...facts }), userId, now })

t.test('unknown fields, of the body and of schema items, are not stored', async (t) => {
  const item = { name: 'a', type: 'bool' as const, description: 'b' }
  const tool = { description: 'c', extra: 1 }
  const odd = { nickname: 'x', post_call_schema: [{ ...item, extra: 1 }], end_call_tool: tool }
  const known = { post_call_schema: [item], end_call_tool: { description: 'c' } }
  const stored = { ...requiredFields, ...defaultSettings(), ...known }
  given([]).when(create(odd)).then(t, [{
    type: 'AssistantCreated', data: { ...ids, settings: stored, created_at: now, status: 'active' }
  }])
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

t.test('an assistant that does not exist, was deleted, or is of another user is not found', async (t) => {
  const commands = (userId: string) => [
    remove(userId), update({}, { userId }), update({ is_webhook_active: true, status: 'inactive' }, { userId }),
    restore({ past: settings() }, userId)
  ]
  for (const command of commands('2')) given([created()]).when(command).then(t, unowned)
  for (const state of [[], [created(), deleted]]) {
    for (const command of commands('1')) given(state).when(command).then(t, unowned)
  }
  given([created()]).when(remove()).then(t, [deleted])
})

t.test('a wrong body is refused first, also for an assistant of another user', async (t) => {
  const refused = { voice_id: ['must be an integer'] }
  for (const state of [[], [created()]]) {
    for (const userId of ['1', '2']) given(state).when(update({}, { userId, refused })).then(t, invalid(refused))
    given(state).when(update({ webhook_url: null, is_webhook_active: true }, { refused })).then(t, invalid({
      ...refused, webhook_url: ['is required when is_webhook_active is true']
    }))
  }
})

t.test('an event holds only what differs, and an update that changes nothing leads to none', async (t) => {
  const same = { assistant_name: 'Front desk', variables: {}, webhook_url: null, nickname: 'x' }
  for (const body of [{}, same]) given([created()]).when(update(body)).then(t, [])
  given([created({ variables: { a: 1, b: [{ c: 2 }] } })]).when(update({ variables: { b: [{ c: 2 }], a: 1 } }))
    .then(t, [])
  given([created()]).when(update({ ...same, llm_temperature: 0.2 })).then(t, [updated({ llm_temperature: 0.2 })])
})

t.test('only the top level merges: objects and arrays are replaced whole', async (t) => {
  const before = created({ variables: { a: 1, b: 2 }, end_call_tool: { description: 'x' } })
  const wholes = [{ variables: { a: 1 } }, { end_call_tool: {} }, { end_call_tool: null }]
  for (const changes of wholes) {
    given([before]).when(update(changes)).then(t, [updated(changes)])
  }
  given([before]).when(update({ 'end_call_tool.description': 'y' }))
    .then(t, [updated({ end_call_tool: { description: 'y' } })])
})

t.test('null unassigns the phone number, which need not be owned, and a null URL switches the webhook off', async (t) => {
  const none = { phone_number_id: null }
  given([created({ phone_number_id: 3 })]).when(update(none, { facts: { ownsPhoneNumber: false } }))
    .then(t, [updated(none)])
  const on = created({ webhook_url: url, is_webhook_active: true })
  given([on]).when(update({ webhook_url: null })).then(t, [updated({ webhook_url: null, is_webhook_active: false })])
})

t.test('the webhook is judged on the merged state', async (t) => {
  const [on, off] = [{ is_webhook_active: true }, { is_webhook_active: false }]
  given([created({ webhook_url: url })]).when(update(on)).then(t, [updated(on)])
  given([created()]).when(update({ ...on, webhook_url: url })).then(t, [updated({ ...on, webhook_url: url })])
  given([created({ ...on, webhook_url: url })]).when(update(off)).then(t, [updated(off)])
  given([created()]).when(update(on)).then(t, invalid({ webhook_url: ['is required when is_webhook_active is true'] }))
})

t.test('a stored URL that the body does not mention is not refused for it', async (t) => {
  const facts = { webhookUrlProblem: 'must be an https URL' }
  const stored = created({ webhook_url: 'http://old.example.com', is_webhook_active: true })
  given([stored]).when(update({ record_call: true }, { facts })).then(t, [updated({ record_call: true })])
  given([stored]).when(update({ webhook_url: 'http://old.example.com' }, { facts }))
    .then(t, invalid({ webhook_url: ['must be an https URL'] }))
})

t.test('an assistant is switched off and on, once each, together with settings too', async (t) => {
  given([created()]).when(update({ status: 'inactive' })).then(t, [deactivated])
  given([created(), deactivated]).when(update({ status: 'inactive' })).then(t, [])
  given([created(), deactivated]).when(update({ status: 'active' })).then(t, [activated])
  given([created()]).when(update({ status: 'inactive', assistant_name: 'Night desk' }))
    .then(t, [updated({ assistant_name: 'Night desk' }), deactivated])
})

t.test('restoring changes what differs from the past settings, and nothing where nothing does', async (t) => {
  const past = settings({ assistant_name: 'Front desk' })
  const later = updated({ assistant_name: 'Night desk', speech_speed: 1.2 })
  const back = [updated({ assistant_name: 'Front desk', speech_speed: 1 })]
  given([created(), later]).when(restore({ past })).then(t, back)
  given([created()]).when(restore({ past })).then(t, [])
})

t.test('today’s rules hold for what a restore sets anew, and for nothing else', async (t) => {
  const past = settings({ voice_id: 9 })
  const facts = { past, voiceExists: false, refused: { language: ['must be at most 3 characters'] } }
  given([created({ voice_id: 1 })]).when(restore(facts)).then(t, invalid({ voice_id: ['must be an available voice'] }))
  given([created({ voice_id: 9 }), updated({ language: 'Dutch' })]).when(restore(facts))
    .then(t, invalid({ language: ['must be at most 3 characters'] }))
})

t.test('a phone number that is gone is not restored, also where the assistant still has it', async (t) => {
  const facts = { past: settings({ phone_number_id: 4 }), ownsPhoneNumber: false }
  for (const present of [{}, { phone_number_id: 4 }]) {
    given([created(present)]).when(restore(facts))
      .then(t, invalid({ phone_number_id: ['must be one of your phone numbers'] }))
  }
})

t.test('a revision that the assistant never had is refused', async (t) => {
  given([created()]).when(restore({})).then(t, invalid({ revision: ['must be a revision of the assistant'] }))
})
