// What is wrong with the data of an event that does not fit its schema, in words for the program that wrote it.

/** As the validator tells it; of one event it tells a few. */
export interface Misfit {
  keyword: string
  schemaPath: string
  instancePath: string
  message: string
}

/** Each field that is wrong, once, by its path. */
export function misfitsInWords (schema: object, data: unknown, misfits: readonly Misfit[]): string {
  if (data instanceof Uint8Array) return 'data is no JSON, or its content type is not application/json'
  const byField = new Map<string, Set<string>>()
  for (const { keyword, schemaPath, instancePath, message } of misfits) {
    if (keyword === 'anyOf') continue // what it may be is told one by one
    const field = instancePath || 'data'
    const words = keyword === 'pattern' ? wordsAt(schema, schemaPath) : undefined
    byField.set(field, (byField.get(field) ?? new Set()).add(words ?? message))
  }
  return [...byField].map(([field, messages]) => `${field} ${[...messages].join(' or ')}`).join('; ')
}

/** What the schema itself says of a text that does not match. */
function wordsAt (schema: object, path: string): string | undefined {
  const part = path.split('/').slice(1).reduce<unknown>(member, schema)
  const words = member(part, 'x-message')
  return typeof words === 'string' ? words : undefined
}

function member (value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
