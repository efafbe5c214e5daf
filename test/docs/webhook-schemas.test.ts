import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { webhookPayload, webhookTest } from '../../src/http/docs/examples.js'
import { receiverSchemaText, schemaFiles, webhookProblems } from '../support/documents/webhook-schemas.js'

const types = ['call.completed', 'webhook.test'] as const
if (process.env.TAP_SNAPSHOT === '1') {
  for (const type of types) await writeFile(schemaFiles[type], receiverSchemaText(type))
}

t.test('the schema files are what the code says; npm run docs:webhooks writes them anew', async (t) => {
  for (const type of types) {
    t.equal(await readFile(schemaFiles[type], 'utf8'), receiverSchemaText(type), schemaFiles[type])
  }
})

t.test('the schemas need nothing from elsewhere and no keyword of ours', async (t) => {
  for (const type of types) {
    const text = receiverSchemaText(type)
    for (const [, ref] of text.matchAll(/"\$ref": "([^"]+)"/g)) t.match(ref, /^#\/\$defs\/\w+$/)
    t.notMatch(text, '"x-')
    t.notMatch(text, '"additionalProperties": false', 'fields may be added')
  }
})

t.test('bodies fit the schema of their type', async (t) => {
  const { data, ...envelope } = webhookPayload
  for (const body of [webhookPayload, webhookTest, { ...webhookPayload, new_field: 1 }]) {
    t.same(webhookProblems(JSON.stringify(body)), [])
  }
  t.same(
    webhookProblems(JSON.stringify({ ...envelope, data: { call_id: 'c-1', status: 'completed', truncated: true } })), []
  )
  for (const name of ['call_id', 'assistant', 'transcript', 'extracted_variables'] as const) {
    t.match(webhookProblems(JSON.stringify({ ...envelope, data: { ...data, [name]: undefined } })), [new RegExp(name)])
  }
  t.match(webhookProblems(JSON.stringify({ ...envelope, data: { ...data, status: 'done' } })), [/status/])
  t.same(Object.keys(webhookTest.data), Object.keys(data), 'a test has every field of a call')
})
