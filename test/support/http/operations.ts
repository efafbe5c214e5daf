// Every operation of the interface that the API document names, so that no route is forgotten.
import type { TestService } from '../service.js'
import { withParts } from './openapi.js'

export interface Operation {
  method: string
  /** With `{id}` and `{call_id}` where something has to be named. */
  path: string
  takesBody: boolean
  /** Nothing is wrong with an empty one, or none. */
  isBodyOptional: boolean
  /** Query parameters by name. */
  query: Record<string, QueryParameter>
}

export interface QueryParameter {
  type?: string
  enum?: string[]
  default?: unknown
  maximum?: number
  pattern?: string
}

interface Document {
  paths: Record<string, Record<string, {
    requestBody?: { required?: boolean }
    parameters?: Array<{ in: string, name: string, schema: QueryParameter & { $ref?: string } }>
  }>>
  components: { schemas: Record<string, QueryParameter> }
}

/** Without the probes, which are no part of it. */
export async function documentedOperations ({ call }: TestService): Promise<Operation[]> {
  const document: Document = (await call('GET', '/docs/json')).body
  const choiceOf = (ref: string) => document.components.schemas[ref.slice('#/components/schemas/'.length)]
  return Object.entries(withParts(document, document.paths)).filter(([path]) => !path.startsWith('/health/'))
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      takesBody: requestBody !== undefined,
      isBodyOptional: requestBody?.required !== true,
      query: Object.fromEntries(parameters.filter((parameter) => parameter.in === 'query')
        .map(({ name, schema }) => [name, { ...schema, ...choiceOf(schema.$ref ?? '') }]))
    })))
}

/** Paths of lists with an id in the place of `{id}`: of the assistant, or of an import that is begun here. */
export async function pathsWithIds ({ call }: TestService, assistant: number): Promise<(path: string) => string> {
  const body = { campaign_id: 1, leads: [{ phone_number: '+15551230199' }] }
  const { id } = (await call('POST', '/user/leads/import', body)).body.data
  return (path) => path.replace('{id}', String(path.includes('/lead-import/') ? id : assistant))
}
