import { readFile, writeFile } from 'node:fs/promises'
import specs from '@asyncapi/specs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import t from 'tap'
import { parse } from 'yaml'
import { decode, eventSchemas, type EventType } from '../../src/domain/events.js'
import { eventDocumentText } from '../support/asyncapi.js'

const file = 'docs/asyncapi.yaml'
if (process.env.TAP_SNAPSHOT === '1') await writeFile(file, eventDocumentText())
const text = await readFile(file, 'utf8')
const document = parse(text)

t.test('docs/asyncapi.yaml is what the schemas say; npm run docs:events writes it anew', async (t) => {
  t.equal(text, eventDocumentText())
})

t.test('it is valid AsyncAPI 3.0', async (t) => {
  t.equal(document.asyncapi, '3.0.0')
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false }) // the schema brings draft-07 along
  addFormats.default(ajv)
  const check = ajv.compile(specs.schemas['3.0.0'])
  check(document)
  t.same(check.errors, null)
  t.notOk(check({ ...document, channels: { call: { address: 5 } } }), 'the validator does refuse')
  for (const [, ref = ''] of text.matchAll(/\$ref: "?#\/([\w/]+)/g)) {
    t.ok(ref.split('/').reduce((part, key) => part?.[key], document), `${ref} is there`)
  }
})

t.test('every event has its schema, on the stream that it belongs to', async (t) => {
  t.same(Object.keys(document.components.messages).sort(), Object.keys(eventSchemas).sort())
  for (const type of Object.keys(eventSchemas) as EventType[]) {
    t.same(document.components.schemas[type], JSON.parse(JSON.stringify(eventSchemas[type])), type)
    t.equal(Object.values<{ messages: object }>(document.channels).filter(({ messages }) => type in messages).length, 1)
  }
  t.equal(document.channels.call.address, 'call-{call_id}')
})

t.test('the example of a CallCompleted is one', async (t) => {
  const [{ payload }] = document.components.messages.CallCompleted.examples
  t.match(decode({ type: 'CallCompleted', data: payload, stream: `call-${payload.call_id}`, revision: 0n }), { type: 'CallCompleted' })
})
