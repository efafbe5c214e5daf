// Ids in paths: how routes describe and read them.
import Type from 'typebox'
import { deliveryId } from './docs/read-examples.js'

/** What the API document says of a parameter instead of the schema that validates it. */
const documentedAs = (schema: object) => ({ 'x-documented': schema })

// Validated as text: what no integer can be is not found, like any other id, and is no field that failed.
const integerOf = (description: string) => Type.Object({
  id: Type.String(documentedAs({ type: 'integer', minimum: 1, description, examples: [1] }))
})

export const assistantPath = integerOf('The assistant.')
export const leadPath = integerOf('The lead.')
export const campaignPath = integerOf('The campaign.')
export const phoneNumberPath = integerOf('The phone number.')
export const apiKeyPath = integerOf('The API key.')
export const blacklistPath = integerOf('The do-not-call entry.')
export const deliveryPath =
  Type.Object({ id: Type.String({ description: 'The delivery, its webhook-id.', examples: [deliveryId] }) })

/** The path parameters of a route as the API document shows them. */
export function documentedPath (params: unknown): unknown {
  if (!hasProperties(params)) return params
  const shown = Object.entries(params.properties).map(([name, schema]) => [name, schema['x-documented'] ?? schema])
  return { ...params, properties: Object.fromEntries(shown) }
}

function hasProperties (schema: unknown): schema is { properties: Record<string, Record<string, unknown>> } {
  return typeof schema === 'object' && schema !== null && 'properties' in schema
}

/** The id that a path holds, or nothing when no resource can have it. */
export function idIn (text: string): number | undefined {
  const id = Number(text)
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(id) ? id : undefined
}
