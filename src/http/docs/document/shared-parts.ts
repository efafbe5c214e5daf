// What several operations have alike stands once in the API document, under a name: parameters, headers and responses.

interface Reference { $ref: string }

interface Parameter { in: string, name: string, required?: boolean, schema?: { title?: string } }

interface Media { schema?: { $ref?: string }, example?: unknown, examples?: object }

export interface Response {
  description?: string
  headers?: Record<string, object | Reference>
  content?: Record<string, Media>
}

export interface Operation {
  operationId?: string
  tags?: string[]
  security?: object[]
  parameters?: Array<Parameter | Reference>
  responses?: Record<string, Response | Reference>
}

export type SharedParts = Record<'parameters' | 'headers' | 'responses', Record<string, object>>

/** A part of an operation, and how a reference takes its place. */
interface Standing<Part> {
  /** What the part is called, of those that are alike. */
  name: string
  part: Part
  operation: Operation
  replace (by: Reference): void
}

/**
 * Replaces what stands twice or more in the operations by references to what is returned.
 * @throws when two different parts would have one name
 */
export function shareParts (operations: readonly Operation[]): SharedParts {
  const headers = share('headers', operations.flatMap(headersOf), JSON.stringify)
  return {
    headers,
    parameters: share('parameters', operations.flatMap(parametersOf), JSON.stringify, nameOfParameter),
    responses: share('responses', operations.flatMap(responsesOf), withoutExamples, firstName, withExamples)
  }
}

/** `keyOf` is the same text for parts that are alike, and `wholeOf` what stands for all of them. */
function share<Part extends object> (
  kind: keyof SharedParts, standing: Array<Standing<Part>>, keyOf: (part: Part) => string,
  nameOf: (alike: Array<Standing<Part>>) => string = firstName,
  wholeOf: (alike: Array<Standing<Part>>) => object = (alike) => alike[0]?.part ?? {}
): Record<string, object> {
  const shared: Record<string, object> = {}
  for (const alike of grouped(standing, keyOf)) {
    if (alike.length < 2) continue
    const name = nameOf(alike)
    if (shared[name]) throw new Error(`two different ${kind} would be named ${name}`)
    shared[name] = wholeOf(alike)
    for (const { replace } of alike) replace({ $ref: `#/components/${kind}/${name}` })
  }
  return shared
}

function grouped<Part> (
  standing: Array<Standing<Part>>, keyOf: (part: Part) => string
): Iterable<Array<Standing<Part>>> {
  const groups = new Map<string, Array<Standing<Part>>>()
  for (const each of standing) groups.set(keyOf(each.part), [...groups.get(keyOf(each.part)) ?? [], each])
  return groups.values()
}

const firstName = <Part>(alike: Array<Standing<Part>>) => alike[0]?.name ?? ''

function headersOf (operation: Operation): Array<Standing<object>> {
  return Object.values(operation.responses ?? {}).flatMap((response) => {
    const headers = '$ref' in response ? {} : response.headers ?? {}
    return Object.entries(headers).map(([name, part]) =>
      ({ name: shortNames[name] ?? name, part, operation, replace (by: Reference) { headers[name] = by } }))
  })
}

/** The title of its schema is the name of a parameter, where it is no name of the schema. */
function parametersOf (operation: Operation): Array<Standing<Parameter>> {
  const { parameters = [] } = operation
  return parameters.flatMap((parameter, index) => {
    if ('$ref' in parameter) return []
    const { title, ...schema } = parameter.schema ?? {}
    const { required, ...rest } = parameter
    const part = parameters[index] = { ...rest, ...(required && { required }), schema }
    const name = title ?? (parameter.in === 'header' ? shortNames[parameter.name] ?? parameter.name : '')
    return [{ name, part, operation, replace (by: Reference) { parameters[index] = by } }]
  })
}

/** What only leads are asked for is called after them, so that another list may take a parameter of that name. */
function nameOfParameter (alike: Array<Standing<Parameter>>): string {
  const [{ name, part } = { name: '', part: { name: '' } }] = alike
  const tags = new Set(alike.flatMap(({ operation }) => operation.tags ?? []))
  const owner = tags.size === 1 ? pascal([...tags].join()) : ''
  return name || `${owner}${pascal(part.name)}`
}

const pascal = (text: string) => text.replace(/(?:^|[ _])(\w)/g, (_, first: string) => first.toUpperCase())

/** Short, because a reference to each stands in every operation. */
const shortNames: Record<string, string> = {
  'Idempotency-Key': 'Key',
  'X-Read-Position': 'Position',
  'X-Read-Model': 'Pending',
  'X-Ignored-Fields': 'Ignored',
  'Idempotent-Replayed': 'Replayed',
  'X-Correlation-Id': 'Correlation',
  'X-RateLimit-Limit': 'Limit',
  'X-RateLimit-Remaining': 'Remaining',
  'X-RateLimit-Reset': 'Reset',
  'WWW-Authenticate': 'Challenge'
}

function responsesOf (operation: Operation): Array<Standing<Response>> {
  const { responses = {} } = operation
  return Object.entries(responses).flatMap(([status, part]) => {
    if ('$ref' in part) return []
    const schema = mediaOf(part)?.schema?.$ref?.split('/').at(-1)
    const name = status === 'default' ? 'Refused' : schema === undefined || schema === 'Error' ? `E${status}` : schema
    return [{ name, part, operation, replace (by: Reference) { responses[status] = by } }]
  })
}

const mediaOf = ({ content = {} }: Response) => Object.values(content)[0]

/** Responses are alike, whatever their examples. */
const withoutExamples = (response: Response) =>
  JSON.stringify(response, (key, value: unknown) => key === 'example' ? undefined : value)

/** What succeeds has the example of each operation; a refusal has one, which is like the others. */
function withExamples (alike: Array<Standing<Response>>): Response {
  const [{ name, part } = { name: '', part: {} }] = alike
  const texts = new Map([...alike].reverse().map(({ part, operation }) =>
    [JSON.stringify(mediaOf(part)?.example), operation.operationId]))
  if (/^E\d|^Refused$/.test(name) || texts.size < 2) return part
  const { example: _, ...media } = mediaOf(part) ?? {}
  const examples = [...texts].reverse().map(([text, operation]) => {
    const value: unknown = JSON.parse(text)
    return [operation, { value }]
  })
  return { ...part, content: { 'application/json': { ...media, examples: Object.fromEntries(examples) } } }
}
