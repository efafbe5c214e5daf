// What switching an assistant off and on, deleting it and restoring it lead to.
import t from 'tap'
import { assistantDecider, type RestoreAssistant, type UpdateAssistant } from '../../../src/features/assistants/model.js'
import type { AssistantEvent, AssistantSettings, AssistantStatus } from '../../../src/features/assistants/events.js'
import { validateChanges, validateRestore, type PastFacts } from '../../../src/features/assistants/validate.js'
import { settings } from '../../support/events/call-events.js'
import { invalid, scenarios } from '../../support/commands/given.js'

const given = scenarios(assistantDecider)
const now = '2026-02-01T12:00:00.000Z'
const ids = { assistant_id: 7, user_id: '1' }
const allExists = { voiceExists: true, languageExists: true, ownsPhoneNumber: true }
const unowned = { code: 'assistant-not-found' as const }

const created = (given: Partial<AssistantSettings> = {}): AssistantEvent => ({
  type: 'AssistantCreated', data: { ...ids, settings: settings(given), created_at: '2026-01-31T12:00:00.000Z', status: 'active' }
})
const updated = (changes: Partial<AssistantSettings>): AssistantEvent =>
  ({ type: 'AssistantUpdated', data: { ...ids, changes, updated_at: now } })
const activated: AssistantEvent = { type: 'AssistantActivated', data: { ...ids, activated_at: now } }
const deactivated: AssistantEvent = { type: 'AssistantDeactivated', data: { ...ids, deactivated_at: now } }
const deleted: AssistantEvent = { type: 'AssistantDeleted', data: { ...ids, deleted_at: now } }

const change = (body: { status?: AssistantStatus, assistant_name?: string }, userId = '1') => (): UpdateAssistant =>
  ({ ...validateChanges({ body }, allExists), userId, now })
const remove = (userId = '1') => ({ type: 'delete' as const, userId, now })
const restore = (facts: PastFacts, userId = '1') => (): RestoreAssistant =>
  ({ ...validateRestore({ body: { revision: 0 } }, { ...allExists, ...facts }), userId, now })

t.test('an assistant is switched off and on, once each', async (t) => {
  given([created()]).when(change({ status: 'inactive' })).then(t, [deactivated])
  given([created(), deactivated]).when(change({ status: 'inactive' })).then(t, [])
  given([created(), deactivated]).when(change({ status: 'active' })).then(t, [activated])
  given([created()]).when(change({ status: 'active' })).then(t, [])
})

t.test('settings and status change together', async (t) => {
  given([created()]).when(change({ status: 'inactive', assistant_name: 'Night desk' }))
    .then(t, [updated({ assistant_name: 'Night desk' }), deactivated])
})

t.test('what was deleted is not found any more, and is deleted once', async (t) => {
  given([created()]).when(remove()).then(t, [deleted])
  for (const command of [remove(), change({ status: 'inactive' }), restore({ past: settings() })]) {
    given([created(), deleted]).when(command).then(t, unowned)
  }
})

t.test('another user finds nothing to delete, to switch or to restore', async (t) => {
  for (const command of [remove('2'), change({ status: 'inactive' }, '2'), restore({ past: settings() }, '2')]) {
    given([created()]).when(command).then(t, unowned)
  }
})

t.test('the id of a deleted assistant is not given out again', async (t) => {
  const create = { type: 'create' as const, settings: settings(), ids: [7], userId: '1', now }
  given([created(), deleted]).when(create).then(t, { code: 'id-taken' })
})

t.test('restoring changes what differs from the past settings, and nothing where nothing does', async (t) => {
  const past = settings({ assistant_name: 'Front desk' })
  const later = updated({ assistant_name: 'Night desk', speech_speed: 1.2 })
  given([created(), later]).when(restore({ past })).then(t, [updated({ assistant_name: 'Front desk', speech_speed: 1 })])
  given([created()]).when(restore({ past })).then(t, [])
  given([created(), later, deactivated]).when(restore({ past }))
    .then(t, [updated({ assistant_name: 'Front desk', speech_speed: 1 })])
})

t.test('today’s rules hold for what is set anew, and for nothing else', async (t) => {
  const past = settings({ voice_id: 9 })
  const facts = { past, voiceExists: false, refused: { language: ['must be at most 3 characters'] } }
  given([created({ voice_id: 1 })]).when(restore(facts)).then(t, invalid({ voice_id: ['must be an available voice'] }))
  given([created({ voice_id: 9 }), updated({ language: 'Dutch' })]).when(restore(facts))
    .then(t, invalid({ language: ['must be at most 3 characters'] }))
})

t.test('a phone number that is gone does not come back, also where the assistant still has it', async (t) => {
  const facts = { past: settings({ phone_number_id: 4 }), ownsPhoneNumber: false }
  for (const present of [{}, { phone_number_id: 4 }]) {
    given([created(present)]).when(restore(facts))
      .then(t, invalid({ phone_number_id: ['must be one of your phone numbers'] }))
  }
})

t.test('a revision that the assistant never had is refused', async (t) => {
  given([created()]).when(restore({})).then(t, invalid({ revision: ['must be a revision of the assistant'] }))
})

t.test('each of these events moves the time of the last change', async (t) => {
  for (const event of [deactivated, activated, deleted]) {
    t.match(given([created(), event]).state(), { updated_at: now, created_at: '2026-01-31T12:00:00.000Z' })
  }
})
