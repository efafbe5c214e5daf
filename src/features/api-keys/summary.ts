// An API key as its user sees it.
import Type, { type Static } from 'typebox'
import { Id, Nullable } from '../../domain/json.js'
import type { ApiKey } from './evolve.js'
import { Scope } from './events.js'

const At = (description: string) =>
  Type.String({ description: `ISO 8601, UTC. ${description}`, examples: ['2026-01-31T11:50:00.000Z'] })

const shown = {
  id: Id({}),
  name: Type.String({ examples: ['Nightly import'] }),
  prefix: Type.String({ description: 'How the key begins, to tell one from another.', examples: ['rl_q3VXhZ0s'] }),
  scopes: Type.Array(Scope),
  expires_at: Nullable(At('From then on it is refused; null for never.')),
  created_at: At('')
}

export const ApiKeyItem = Type.Object({
  ...shown,
  last_used_at: Nullable(At('The minute of its last use; null where it was not used. A new database begins anew.'))
}, { title: 'ApiKey' })
export type ApiKeyItem = Static<typeof ApiKeyItem>

const { id, name, ...rest } = shown
export const NewKeyAnswer = Type.Object({
  id, name, key: Type.String({ description: 'The key, shown this once.' }), ...rest
}, { title: 'CreatedApiKey' })
export type NewKeyAnswer = Static<typeof NewKeyAnswer>

/** With the key itself, for the answer that creates it. */
export function describeNewKey (created: ApiKey, key: string): NewKeyAnswer {
  const { api_key_id, name, prefix, scopes, expires_at, created_at } = created
  return { id: api_key_id, name, key, prefix, scopes, expires_at, created_at }
}
