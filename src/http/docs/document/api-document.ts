// The API document as it is served: made of what the plugin found in the routes, for people and for generators of code.
import { shareParts, type Operation, type Response } from './shared-parts.js'
import { shown, type Named } from './shown-schemas.js'

interface Made { paths?: object, components?: object }

export interface Origin {
  /** Where the API is found, for clients. */
  servers: Array<{ url: string }>
  /** Where it is found without BASE_PATH, if that is another place. */
  root?: { url: string }
}

/**
 * Where the API is by PUBLIC_URL, which names the place of `/health` and may have BASE_PATH at its end. Without it,
 * wherever the document is.
 */
export function originOf (basePath: string, publicUrl = ''): Origin {
  const url = publicUrl.replace(/\/+$/, '')
  const root = basePath && url.endsWith(basePath) ? url.slice(0, -basePath.length) : url
  return { servers: [{ url: `${root}${basePath}` || '/' }], ...(basePath && { root: { url: root || '/' } }) }
}

/** The document with its webhooks. @throws when two different parts of it have one name */
export function apiDocument<Api extends Made> (made: Api, webhooks: object, { servers, root }: Origin): Api {
  const schemas: Named = {}
  const paths = pathsOf(shown(made.paths ?? {}, schemas))
  const received = pathsOf(shown(webhooks, schemas))
  shareRefusals(operationsOf(paths))
  sayOnce(schemas)
  const security = shareSecurity(operationsOf(paths))
  const parts = shareParts([...operationsOf(paths), ...operationsOf(received)])
  if (root) placeProbes(paths, root)
  const components = { ...made.components, schemas: withoutExamples(schemas), ...parts }
  return { ...made, servers, security, paths, webhooks: received, components }
}

/** Bodies and answers have examples as a whole. */
const withoutExamples = (schemas: Named): Named => JSON.parse(JSON.stringify(schemas, (key, value: unknown) =>
  key === 'examples' && Array.isArray(value) ? undefined : value))

type Paths = Record<string, Record<string, Operation & { servers?: object[] }>>

/** What the plugin and the webhooks have for paths, rewritten. */
const pathsOf = (paths: unknown): Paths => paths as Paths

const operationsOf = (paths: Paths) => Object.values(paths).flatMap((methods) => Object.values(methods))

/** Probes do not depend on BASE_PATH. */
function placeProbes (paths: Paths, root: { url: string }): void {
  const probes = Object.entries(paths).filter(([path]) => path.startsWith('/health/'))
  for (const operation of operationsOf(Object.fromEntries(probes))) operation.servers = [root]
}

/**
 * Takes the login that most operations have off them. One without any says so itself.
 * @returns what they take
 */
function shareSecurity (operations: readonly Operation[]): object[] {
  const counts = new Map<string, number>()
  for (const { security } of operations) {
    if (security) counts.set(JSON.stringify(security), (counts.get(JSON.stringify(security)) ?? 0) + 1)
  }
  const [usual = '[]'] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? []
  for (const operation of operations) {
    if (!operation.security) operation.security = []
    else if (JSON.stringify(operation.security) === usual) delete operation.security
  }
  return JSON.parse(usual)
}

interface Schema { description?: string, properties?: Record<string, { description?: string }> }

/** Each with the schema that says what its fields mean, where it does not do so itself. */
const saidIn: ReadonlyArray<[name: string, by: string]> = [
  ['AssistantChanges', 'AssistantInput'],
  ['FoundLead', 'Lead'],
  ['TruncatedCall', 'WebhookCall'],
  ['CallSummary', 'Call'],
  ['DeliverySummary', 'Delivery'],
  ['DeliveryDetails', 'Delivery']
]

/** Takes descriptions away that the other schema has of a field of that name. A field without one keeps its words. */
function sayOnce (schemas: Record<string, Schema>): void {
  for (const [name, by] of saidIn) {
    const [schema, other] = [schemas[name], schemas[by]]
    if (!schema || !other) throw new Error(`the API document has no schema ${schema ? by : name}`)
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (field.description === withoutDefault(other.properties?.[name])) delete field.description
    }
    schema.description = `What is not described here is as in ${by}.`
  }
}

/** What a create says of a default is no word on the field. */
const withoutDefault = (field: { description?: string } = {}) => field.description?.replace(/ Default: .*\.$/s, '')

/** What depends on the route stays with it: 404 and 422. A route that has a 409 or a 412 takes the header for it. */
const ofAnyRoute = ['400', '401', '403', '409', '410', '412', '413', '415', '429', '500', '503']

/** Puts a default in place of the usual refusals of the operations. */
function shareRefusals (operations: readonly Operation[]): void {
  const usual = new Map<string, Response>()
  const refused: Response = { headers: {} }
  for (const { responses = {} } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      if (!ofAnyRoute.includes(status) || '$ref' in response || !isError(response)) continue
      usual.set(status, usual.get(status) ?? response)
      Reflect.deleteProperty(responses, status)
      responses.default = refused
    }
  }
  Object.assign(refused, merged(usual))
}

const isError = ({ content = {} }: Response) => content['application/json']?.schema?.$ref?.endsWith('/Error') ?? false

function merged (usual: ReadonlyMap<string, Response>): Response {
  const statuses = [...usual].sort(([one], [other]) => Number(one) - Number(other))
  return {
    description: ['Refused, or failed:', '', ...statuses.map(([status, { description }]) => `- ${status}: ${description}`)].join('\n'),
    headers: Object.assign({}, ...statuses.map(([, { headers }]) => headers)),
    content: usual.get('401')?.content ?? {}
  }
}
