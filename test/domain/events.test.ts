// Every event version that was ever written can be read.
import t from 'tap'
import Value from 'typebox/value'
import { assistantDecider, type CreateAssistant } from '../../src/features/assistants/model.js'
import { validateNewAssistant, type AssistantBody } from '../../src/features/assistants/validate.js'
import { callDecider } from '../../src/features/calls/model.js'
import { campaignDecider } from '../../src/features/campaigns/model.js'
import { languagesDecider, modelsDecider, voicesDecider } from '../../src/features/catalog/model.js'
import {
  fold, currentVersion, decode, eventVersions, type DomainEvent, type EventType
} from '../../src/domain/events.js'
import { leadDecider } from '../../src/features/leads/decide.js'
import { holderDecider, phoneNumberDecider } from '../../src/features/phone-numbers/model.js'
import { requiredFields } from '../support/bodies/bodies.js'
import { golden, opened, type Golden } from '../support/events/golden.js'
import { fc } from '../support/fuzz/property.js'

const types = Object.keys(eventVersions)
const personal = /Ada Example|\+1555\d+/
type Given = Omit<Golden, 'schema_version'> & { schema_version?: string }
const read = (given: Given) => decode(opened(given))

/** The golden event of this type's current version, typed by its name. */
function event<Type extends EventType> (type: Type): Extract<DomainEvent, { type: Type }> {
  return read(golden(type, currentVersion(type))) as Extract<DomainEvent, { type: Type }>
}

t.test('every event type has a golden file for every version up to the present one', async (t) => {
  const versionsOf = (type: string) => Array.from({ length: Number(currentVersion(type)) }, (_, index) => index + 1)
  t.strictSame(
    [...golden.files.keys()].sort(),
    types.flatMap((type) => versionsOf(type).map((version) => `${type}.v${version}.json`)).sort()
  )
  for (const [file, { type, schema_version }] of golden.files) t.equal(file, `${type}.v${schema_version}.json`)
})

t.test('every golden event of a current version is decoded without loss', async (t) => {
  for (const type of types) {
    const stored = golden(type, currentVersion(type))
    t.same(read(stored), { type, data: opened(stored).data }, type)
  }
})

t.test('what the golden events say of persons is in their bytes up to the version that seals it', async (t) => {
  for (const [type, { stored, schemas }] of Object.entries(eventVersions)) {
    if (!stored) continue
    const dataOf = (version: number) => golden(type, String(version)).data
    const present = dataOf(schemas.length)
    if (schemas.length > 1) t.match(JSON.stringify(dataOf(schemas.length - 1)), personal, type)
    t.notMatch(JSON.stringify(present), personal, type)
    t.ok(Value.Check(stored, present), `${type} is sealed as its schema says`)
  }
})

t.test('every golden event of a former version is decoded as the next one', async (t) => {
  const former = [...golden.files.values()]
    .filter(({ type, schema_version }) => schema_version !== currentVersion(type))
  t.ok(former.length > 0)
  for (const each of former) {
    t.same(
      read(each), read(golden(each.type, String(Number(each.schema_version) + 1))), `${each.type}.v${each.schema_version}`
    )
  }
})

t.test('a former version is read as what the current one would have written, whatever it says', async (t) => {
  const name = fc.string({ minLength: 1, maxLength: 255 }).filter((text) => !text.includes('\0'))
  const anything = fc.record({
    assistant_name: name, record_call: fc.boolean(), variables: fc.dictionary(fc.string(), fc.jsonValue())
  }).map<AssistantBody>((body) => JSON.parse(JSON.stringify(body)))
  fc.assert(fc.property(fc.integer({ min: 1 }), anything, (id, body) => {
    const [written] = assistantDecider.decide(creating(id, body), undefined)
    const { status: _status, ...data } = { status: undefined, ...written?.data }
    const before = structuredClone(data)
    const decoded = read({ stream: `assistant-${id}`, type: 'AssistantCreated', schema_version: '1', data })
    return t.strictSame(decoded, written) && t.strictSame(data, before, 'and what was stored stays as it is')
  }), { numRuns: 50 })
})

t.test('an event that does not say its version is of the first one', async (t) => {
  for (const type of types) {
    const { id = '', stream, data } = golden(type, '1')
    t.strictSame(read({ id, stream, type, data }), read(golden(type, '1')), type)
  }
})

t.test('the golden events fold', async (t) => {
  const updated = event('AssistantUpdated').data
  const created = event('AssistantCreated').data
  t.strictSame(fold(assistantDecider, [event('AssistantCreated'), event('AssistantUpdated')]), {
    assistant_id: 1,
    user_id: 'user-1',
    settings: {
      ...created.settings, ...updated.changes
    },
    status: 'active',
    created_at: created.created_at,
    updated_at: updated.updated_at
  })
  t.match(fold(leadDecider, [event('LeadCreated')]), {
    ids: [1], last: { id: 1, status: 'created', secondary_contacts: [{ id: 2, status: 'created' }] }
  })
  t.strictSame(fold(callDecider, [event('CallCompleted')]), event('CallCompleted').data)
  t.strictSame([...fold(voicesDecider, [event('VoiceAdded')])], [[1, 'Nova']])
  t.strictSame([...fold(languagesDecider, [event('LanguageAdded')])], [['English', 'English']])
  t.strictSame([...fold(modelsDecider, [event('ModelAdded')])], [['gpt-4o', 'gpt-4o']])
  t.match(fold(campaignDecider, [event('CampaignCreated'), event('CampaignRenamed')]), { name: 'Summer' })
  t.match(fold(phoneNumberDecider, [event('PhoneNumberAdded')]), { phone_number: '+15551230009' })
  t.match(fold(phoneNumberDecider, [event('PhoneNumberAdded'), event('PhoneNumberReleased')]), { isReleased: true })
  t.strictSame(fold(holderDecider, [event('PhoneNumberClaimed')]), event('PhoneNumberClaimed').data)
  t.equal(fold(holderDecider, [event('PhoneNumberClaimed'), event('PhoneNumberFreed')]), undefined)
})
const creating = (id: number, body: AssistantBody): CreateAssistant =>
  ({
    ...validateNewAssistant({ body: { ...requiredFields, ...body } }, {}),
    ids: [id],
    userId: '1',
    now: '2026-01-31T12:00:00.000Z'
  })
