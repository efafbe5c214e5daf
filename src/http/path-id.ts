// Ids in paths: how routes describe and read them.
import Type from 'typebox'
import { documentedAs } from '../domain/json.js'
import type { Rejection } from '../domain/rejection.js'
import { deliveryId, importId, personRequestId } from './docs/examples.js'

// Validated as text: what no integer can be is not found, like any other id, and is no field that failed.
const integerOf = (title: string, description: string) => Type.Object({
  id: Type.String({ title, description, examples: [1], ...documentedAs({ type: 'integer', minimum: 1 }) })
})

export const assistantPath = integerOf('AssistantPath', 'The assistant.')
export const leadPath = integerOf('LeadPath', 'The lead.')
export const campaignPath = integerOf('CampaignPath', 'The campaign.')
export const phoneNumberPath = integerOf('PhoneNumberPath', 'The phone number.')
export const apiKeyPath = integerOf('ApiKeyPath', 'The API key.')
export const blacklistPath = integerOf('BlacklistPath', 'The do-not-call entry.')
export const deliveryPath = Type.Object({
  id: Type.String({ title: 'DeliveryPath', description: 'The delivery, its webhook-id.', examples: [deliveryId] })
})
export const importPath = Type.Object({
  id: Type.String({ title: 'ImportPath', description: 'The import.', examples: [importId] })
})
export const personRequestPath = Type.Object({
  id: Type.String({
    title: 'PersonRequestPath', description: 'The request.', examples: [personRequestId]
  })
})

/** The id that a path holds. @throws what `notFound` gives, when no resource can have it */
export function pathId (text: string, notFound: () => Rejection): number {
  const id = Number(text)
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(id)) throw notFound()
  return id
}
