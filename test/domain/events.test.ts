// Every event version that was ever written can still be read; what is malformed or out of place cannot.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { assistantDecider } from '../../src/domain/assistant/decide.js'
import { callDecider } from '../../src/domain/call/decide.js'
import { campaignDecider, listDecider, phoneNumberDecider } from '../../src/domain/catalog/decide.js'
import { fold } from '../../src/domain/decider.js'
import { DecodeError, decode, eventSchemas, schemaVersion, type DomainEvent, type EventType } from '../../src/domain/events.js'
import { leadDecider } from '../../src/domain/lead/decide.js'

interface Golden { stream: string, type: EventType, schema_version: string, data: Record<string, unknown> }

const folder = new URL('../golden/', import.meta.url)
const golden = new Map(readdirSync(folder).map((file) => [file, JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Golden]))
const types = Object.keys(eventSchemas)
const read = ({ stream, type, data }: Pick<Golden, 'stream' | 'type' | 'data'>) => decode({ stream, type, data, revision: 0n })

/** The golden event of this type, typed by its name. */
function event<Type extends EventType> (type: Type): Extract<DomainEvent, { type: Type }> {
  const found = golden.get(`${type}.v${schemaVersion}.json`)
  if (!found) throw new Error(`no golden file for ${type}`)
  return read(found) as Extract<DomainEvent, { type: Type }>
}

t.test('every event type has a golden file for every version up to the present one', async (t) => {
  const versions = Array.from({ length: Number(schemaVersion) }, (_, index) => index + 1)
  t.strictSame([...golden.keys()].sort(), types.flatMap((type) => versions.map((version) => `${type}.v${version}.json`)).sort())
  for (const [file, { type, schema_version }] of golden) t.equal(file, `${type}.v${schema_version}.json`)
})

t.test('every golden event is decoded without loss', async (t) => {
  for (const [file, { stream, type, data }] of golden) t.strictSame(decode({ stream, type, data, revision: 0n }), { type, data }, file)
})

t.test('the golden events fold', async (t) => {
  const updated = event('AssistantUpdated').data
  const created = event('AssistantCreated').data
  t.strictSame(fold(assistantDecider, [event('AssistantCreated'), event('AssistantUpdated')]), {
    assistant_id: 1, user_id: 'user-1', settings: { ...created.settings, ...updated.changes }, created_at: created.created_at, updated_at: updated.updated_at
  })
  t.match(fold(leadDecider, [event('LeadCreated')]), [{ id: 1, status: 'created', secondary_contacts: [{ id: 2, status: 'created' }] }])
  t.strictSame(fold(callDecider, [event('CallCompleted')]), event('CallCompleted').data)
  t.strictSame([...fold(listDecider('VoiceAdded'), [event('VoiceAdded')])], [[1, 'Nova']])
  t.strictSame([...fold(listDecider('LanguageAdded'), [event('LanguageAdded')])], [['English', 'English']])
  t.strictSame([...fold(listDecider('ModelAdded'), [event('ModelAdded')])], [['gpt-4o', 'gpt-4o']])
  t.match(fold(campaignDecider, [event('CampaignCreated'), event('CampaignRenamed')]), { name: 'Summer' })
  t.match(fold(phoneNumberDecider, [event('PhoneNumberAdded')]), { phone_number: '+15551230009' })
})

t.test('an event without one of its fields, or with another type in it, is malformed', async (t) => {
  for (const { type, stream, data } of golden.values()) {
    for (const name of Object.keys(data).filter((name) => name !== 'lead_status')) {
      const { [name]: _left, ...rest } = data
      t.throws(() => read({ type, stream, data: rest }), DecodeError, `${type} without ${name}`)
      t.throws(() => read({ type, stream, data: { ...data, [name]: Symbol('none of JSON') } }), DecodeError, `${type} with another ${name}`)
    }
  }
})

t.test('data that is not an object is malformed, and the message says where the event stands', async (t) => {
  for (const data of [null, 'text', 5, [], new Uint8Array([1])]) {
    t.throws(() => decode({ type: 'CallCompleted', stream: 'call-x', revision: 3n, data }), { name: 'DecodeError', message: /^CallCompleted at call-x@3: / })
  }
})

t.test('an event on a stream that is not its own is malformed', async (t) => {
  for (const { type, data } of golden.values()) {
    for (const stream of ['assistant-2', 'lead-2-x', 'call-c-2', 'campaign-2', 'phonenumber-2', 'catalog-others', 'else']) {
      t.throws(() => read({ type, stream, data }), DecodeError, `${type} on ${stream}`)
    }
  }
})

t.test('types that are not ours are nobody’s business', async (t) => {
  t.equal(decode({ type: 'LeadDigestKeyChosen', stream: 'ringledger-settings', revision: 0n, data: 5 }), undefined)
  t.equal(decode({ type: 'constructor', stream: 'x', revision: 0n, data: {} }), undefined)
})
