// The rules for API keys that need to know what they are now.
import { idAt, type Circumstances, type Decider } from '../../domain/decider.js'
import { Rejection } from '../../domain/rejection.js'
import { apiKeyEventTypes, type ApiKeyEvent } from './events.js'
import { evolve, type ApiKeyState } from './evolve.js'
import type { NewApiKey } from './validate.js'

/** What an event may say of the key itself. */
export interface Digest { hash: string, prefix: string }

/** Its one id is the new key's. */
export type CreateApiKey = NewApiKey & Digest & Circumstances
export type RevokeApiKey = { type: 'revoke' } & Omit<Circumstances, 'ids'>

export const apiKeyDecider: Decider<ApiKeyState, ApiKeyEvent, CreateApiKey | RevokeApiKey> = {
  initialState: undefined,
  eventTypes: apiKeyEventTypes,
  evolve,
  ownerOf: (state) => state?.user_id,
  decide (command, state) {
    switch (command.type) {
      case 'create': return create(command, state)
      case 'revoke': return revoke(command, state)
      default: return command satisfies never
    }
  }
}

function create (command: CreateApiKey, state: ApiKeyState): ApiKeyEvent[] {
  if (state) throw new Rejection('id-taken', 'The id was given out before: try again')
  const { ids, userId, name, hash, prefix, scopes, expires_at, now } = command
  const ofKey = { name, hash, prefix, scopes, expires_at }
  return [{ type: 'ApiKeyCreated', data: { api_key_id: idAt(ids, 0), user_id: userId, ...ofKey, created_at: now } }]
}

function revoke ({ userId, now }: RevokeApiKey, state: ApiKeyState): ApiKeyEvent[] {
  if (state?.user_id !== userId || state.isRevoked) throw apiKeyNotFound()
  return [{ type: 'ApiKeyRevoked', data: { api_key_id: state.api_key_id, user_id: userId, revoked_at: now } }]
}

/** Also the answer to somebody else's key, so that nobody learns which ids exist. */
export function apiKeyNotFound (): Rejection {
  return new Rejection('not-found', 'API key not found or does not belong to the authenticated user')
}
