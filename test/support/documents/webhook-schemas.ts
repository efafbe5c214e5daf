// The JSON Schemas for receivers, made from those of the API document; docs/webhooks/*.schema.json is their text.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { shown, type Named } from '../../../src/http/docs/document.js'
import { webhooks } from '../../../src/http/docs/openapi.js'

type Type = keyof typeof webhooks

export const schemaFiles: Record<Type, string> = {
  'call.completed': 'docs/webhooks/call-completed.schema.json',
  'webhook.test': 'docs/webhooks/webhook-test.schema.json'
}

/** JSON Schema 2020-12, complete in itself, as plain data. */
function receiverSchema (type: Type): Record<string, unknown> {
  const { schema, example } = webhooks[type].post.requestBody.content['application/json']
  const { title = '' }: { title?: string } = schema
  const named: Named = {}
  shown(schema, named)
  const { [title]: root, ...$defs } = named
  return JSON.parse(JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $comment: 'Made from src/features/webhooks/payload.ts by `npm run docs:webhooks`. Fields may be added.',
    ...root,
    examples: [example],
    $defs
  }, (key, value: unknown) => key.startsWith('x-') ? undefined : value).replaceAll('#/components/schemas/', '#/$defs/'))
}

export const receiverSchemaText = (type: Type) => `${JSON.stringify(receiverSchema(type), null, 2)}\n`

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
addFormats.default(ajv)
const checks = {
  'call.completed': ajv.compile(receiverSchema('call.completed')),
  'webhook.test': ajv.compile(receiverSchema('webhook.test'))
}

/** Violations of the schema of the body's type. */
export function webhookProblems (body: string | Buffer): string[] {
  const payload: { type: Type } = JSON.parse(String(body))
  const check = checks[payload.type]
  return check(payload) ? [] : ajv.errorsText(check.errors, { separator: '\n' }).split('\n')
}
