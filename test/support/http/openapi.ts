// The API document, with its operations and a check of values by its schemas.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TestService } from '../service.js'
import pino from 'pino'
import { buildApp } from '../../../src/app.js'
import type { App } from '../../../src/http/app-types.js'
import { openMetrics } from '../../../src/http/metrics.js'
import { secrets } from '../auth/secrets.js'

interface Media { schema: object, example?: unknown, examples?: Record<string, { value: unknown }> }

interface Described {
  description?: string
  headers?: Record<string, object>
  content?: Record<'application/json', Media>
}

export interface Parameter {
  name: string
  in: string
  schema: { $ref?: string, type?: string, enum?: string[], minimum?: number, maximum?: number }
  description?: string
  example?: unknown
}

export interface Operation {
  operationId?: string
  tags?: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: Required<Pick<Described, 'content'>> & { required?: boolean }
  responses: Record<string, Described>
}

/** For an API below `/v1`. `operations` have references to shared parts replaced by the parts. */
export async function openApi () {
  const app = await appAlone({ basePath: '/v1' })
  const { body: text } = await app.inject('/v1/docs/json')
  const document = JSON.parse(text)
  const operations = operationsIn(document)
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'api', components: document.components })
  const checks = new Map<string, ValidateFunction>() // compiling one costs more than all that it is asked
  const fits = (schema: object, value: unknown) => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"api#/components')
    const check = checks.get(text) ?? ajv.compile(JSON.parse(text))
    checks.set(text, check)
    return check(value) ? [] : check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  return { app, text, document, operations, fits }
}

function operationsIn (document: { paths: Record<string, Record<string, Operation>> }) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, operation]) => ({ path, method: verb.toUpperCase(), operation })))
  return operations.map(({ path, method, operation }) =>
    ({ path, method, operation: withParts(document, operation), name: `${method} ${path}` }))
}

/** Replaces references to parameters, headers and responses by their targets; those to schemas stay. */
function withParts<Value> (document: object, value: Value): Value {
  return JSON.parse(JSON.stringify(value, (_key, part: unknown) => {
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(refOf(part)) ?? []
    if (kind === '' || kind === 'schemas') return part
    return Reflect.get(Reflect.get(Reflect.get(document, 'components'), kind), name)
  }))
}

const refOf = (part: unknown) =>
  typeof part === 'object' && part !== null && '$ref' in part ? String(part.$ref) : ''

/** All operations but probes. Paths have placeholders such as `{id}` and `{call_id}`. */
export async function documentedOperations ({ call }: TestService) {
  const document = (await call('GET', '/docs/json')).body
  const choiceOf = ({ $ref = '' }) => document.components.schemas[$ref.slice('#/components/schemas/'.length)]
  return operationsIn(document).filter(({ path }) => !path.startsWith('/health/'))
    .map(({ method, path, operation: { requestBody, parameters = [] } }) => ({
      method,
      path,
      takesBody: requestBody !== undefined,
      /** An empty body, or none, is accepted. */
      isBodyOptional: requestBody?.required !== true,
      query: Object.fromEntries(parameters.filter((parameter) => parameter.in === 'query')
        .map(({ name, schema }): [string, Parameter['schema']] => [name, { ...schema, ...choiceOf(schema) }]))
    }))
}

/** A stand-in for what only a request or a scrape uses: calls and properties of it return itself. */
export const unused = new Proxy(() => {}, {
  apply: () => unused, get: (_target, name) => typeof name === 'symbol' || name === 'then' ? undefined : unused
}) as never

type AppDeps = Parameters<typeof buildApp>[0]

/** Does not listen; use `inject`. `routes` is what the routes that a test asks need of the services. */
export async function appAlone (
  { routes = {}, ...given }: Partial<Omit<AppDeps, 'routes'>> & { routes?: object } = {}
): Promise<App> {
  const logger = given.logger ?? pino({ level: 'silent' })
  return await buildApp({
    logger,
    basePath: '',
    jwt: { secret: secrets.JWT_SECRET, roleClaim: 'role' },
    credentials: unused,
    corsOrigins: [],
    rateLimit: { perMinute: 0 },
    healthChecks: {},
    metrics: openMetrics(logger),
    ops: unused,
    ...given,
    routes: new Proxy(routes, { get: (target, name) => Reflect.get(target, name) ?? unused }) as AppDeps['routes']
  })
}
