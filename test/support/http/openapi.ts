// The API document of a running service, with its operations and a check of values by its schemas.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Test } from 'tap'
import { testService } from '../service.js'

interface Media { schema: object, example?: unknown }

interface Described {
  description?: string
  headers?: Record<string, object>
  content?: Record<'application/json', Media>
}

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  security?: object[]
  parameters?: Array<{ name: string, in: string, schema?: object, description?: string, example?: unknown }>
  requestBody?: Required<Pick<Described, 'content'>>
  responses: Record<string, Described>
}
/** A service with webhooks that wait, and its document. */
export async function openApi (t: Test) {
  const service = await testService(t, ['api', 'projector', 'worker'], { BASE_PATH: '/v1', WEBHOOK_SCHEDULE: '1h' })
  const { body: document } = await service.call('GET', '/v1/docs/json')
  const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      ({ path, method: method.toUpperCase(), operation, name: `${method.toUpperCase()} ${path}` })))
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'api', components: document.components })
  const fits = (schema: object, value: unknown) => {
    const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')))
    return check(value) ? [] : check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  return { service, document, operations, fits }
}
