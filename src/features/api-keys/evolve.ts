// How an API key's events add up.
import type { ApiKeyEvent, Scope } from './events.js'

export interface ApiKey {
  api_key_id: number
  user_id: string
  name: string
  /** SHA-256 of the key, in hexadecimal digits. */
  hash: string
  /** How the key begins. */
  prefix: string
  scopes: Scope[]
  /** ISO 8601; null for never. */
  expires_at: string | null
  created_at: string
  /** It is refused for good. Its id is not given out again. */
  isRevoked?: true
}

/** Nothing yet, or the key. */
export type ApiKeyState = ApiKey | undefined

export function evolve (state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  switch (event.type) {
    case 'ApiKeyCreated': return state ?? { ...event.data }
    case 'ApiKeyRevoked': return state && { ...state, isRevoked: true }
    default: return event satisfies never
  }
}
