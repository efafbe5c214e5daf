// API keys in the examples of the API document. The key is none: nobody has it.
import type { Static } from 'typebox'
import type { ApiKeyItem, NewKeyAnswer } from '../../features/api-keys/summary.js'
import type { CreateApiKeyBody } from '../../features/api-keys/validate.js'

export const newApiKey: Static<typeof CreateApiKeyBody> =
  { name: 'Nightly import', scopes: ['read', 'write'], expires_at: '2099-12-31T23:00:00.000Z' }

const prefix = 'rl_q3VXhZ0s'
const shown = {
  prefix, scopes: newApiKey.scopes, expires_at: '2099-12-31T23:00:00.000Z', created_at: '2026-01-31T11:50:00.000Z'
}
export const createdApiKey: NewKeyAnswer =
  { id: 1, name: newApiKey.name, key: `${prefix}EXAMPLE-EXAMPLE-EXAMPLE-EXAMPLE-35`, ...shown }
export const apiKeyItem: ApiKeyItem =
  { id: 1, name: newApiKey.name, ...shown, last_used_at: '2026-01-31T12:03:00.000Z' }
