// Every command of an API key; `routes.ts` adds them.
import type { App } from '../../http/app-types.js'
import { createApiKey, type CreateApiKeyDeps } from './create-api-key.js'
import { revokeApiKey, type RevokeApiKeyDeps } from './revoke-api-key.js'

export type ApiKeyDeps = CreateApiKeyDeps & RevokeApiKeyDeps

export function addApiKeyCommands (app: App, deps: ApiKeyDeps): void {
  createApiKey(app, deps)
  revokeApiKey(app, deps)
}
