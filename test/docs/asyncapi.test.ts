import { readFile, writeFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { decode } from '../../src/domain/events.js'
import { eventDocumentText } from '../../docs/asyncapi/document.js'

const file = 'docs/asyncapi.yaml'
const isRecording = process.env.TAP_SNAPSHOT === '1'
if (isRecording) await writeFile(file, eventDocumentText())
const text = await readFile(file, 'utf8')
const document = parse(text)

t.test('docs/asyncapi.yaml is what the schemas say; npm run docs:events writes it anew', async (t) => {
  t.equal(text, eventDocumentText())
})

async function isValid (t: Test): Promise<void> {
  const [{ default: specs }, { Ajv }, { default: addFormats }] =
    await Promise.all([import('@asyncapi/specs'), import('ajv'), import('ajv-formats')])
  t.equal(document.asyncapi, '3.0.0')
  // the schema brings draft-07 along
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false })
  addFormats.default(ajv)
  const check = ajv.compile(specs.schemas['3.0.0'])
  check(document)
  t.same(check.errors, null)
  for (const [, ref = ''] of text.matchAll(/\$ref: "?#\/([\w/]+)/g)) {
    t.ok(ref.split('/').reduce((part, key) => part?.[key], document), `${ref} is there`)
  }
}

// Later it is as valid as it was when it was recorded.
if (isRecording) t.test('it is valid AsyncAPI 3.0', isValid)

interface Schema { properties?: object, enum?: string[] }

t.test('every object and choice in an event has a name, so that generated code has one, too', async (t) => {
  const { schemas } = document.components
  const named = new Set<unknown>(Object.values(schemas))
  for (const part of Object.values<Schema>(schemas).flatMap(inside)) {
    const isNameless = !named.has(part) && (part.properties !== undefined || part.enum !== undefined)
    if (isNameless) t.same(part, {}, 'it has a title')
  }
  t.match(schemas.CallCompleted.properties, { status: { $ref: '#/components/schemas/CallStatus' } })
  t.notMatch(text, /x-message|x-documented|\(\?[!=<]/)
})

function inside (value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return []
  return [...Array.isArray(value) ? [] : [value], ...Object.values(value).flatMap(inside)]
}

t.test('the example of a CallCompleted is one', async (t) => {
  const [{ payload }] = document.components.messages.CallCompleted.examples
  t.match(
    decode({ type: 'CallCompleted', data: payload, stream: `call-${payload.call_id}`, revision: 0n, metadata: {} }),
    { type: 'CallCompleted' }
  )
})
