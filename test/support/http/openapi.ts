// The API document, with its operations and a check of values by its schemas.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { appAlone } from './app-alone.js'

interface Media { schema: object, example?: unknown, examples?: Record<string, { value: unknown }> }

interface Described {
  description?: string
  headers?: Record<string, object>
  content?: Record<'application/json', Media>
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: { type?: string, format?: string, pattern?: string, default?: unknown }
  description?: string
  example?: unknown
}

export interface Operation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  security?: object[]
  servers?: object[]
  parameters?: Parameter[]
  requestBody?: Required<Pick<Described, 'content'>>
  responses: Record<string, Described>
}

/** Of an API below `/v1`. In `operations` shared parts stand where they are used. */
export async function openApi () {
  const app = await appAlone({ basePath: '/v1' })
  const { body: text } = await app.inject('/v1/docs/json')
  const document = JSON.parse(text)
  const resolved = <Value>(value: Value) => withParts(document, value)
  const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      ({ path, method: method.toUpperCase(), operation: resolved(operation), name: `${method.toUpperCase()} ${path}` })))
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'api', components: document.components })
  const fits = (schema: object, value: unknown) => {
    const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')))
    return check(value) ? [] : check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  return { app, text, document, operations, resolved, fits }
}

/** The value with parameters, headers and responses in place of the references to them; those to schemas stay. */
export function withParts<Value> (document: object, value: Value): Value {
  return JSON.parse(JSON.stringify(value, (_key, part: unknown) => {
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(refOf(part)) ?? []
    if (kind === '' || kind === 'schemas') return part
    return Reflect.get(Reflect.get(Reflect.get(document, 'components'), kind), name)
  }))
}

const refOf = (part: unknown) =>
  typeof part === 'object' && part !== null && '$ref' in part ? String(part.$ref) : ''

/** Every example of an answer or a body. */
export const examplesOf = ({ example, examples = {} }: Media): unknown[] =>
  [...example === undefined ? [] : [example], ...Object.values(examples).map(({ value }) => value)]
