// What a caller sends to make an API key.
import Type, { type Static } from 'typebox'
import { isBlank } from '../../domain/blank.js'
import { Instant, notBlank, Nullable } from '../../domain/json.js'
import { problem, soundBody, soundFields, type Submitted } from '../../domain/validation.js'
import { Scope, scopes } from './events.js'

export const CreateApiKeyBody = Type.Object({
  name: Type.String({
    minLength: 1, maxLength: 255, ...notBlank, description: 'What it is for.', examples: ['Nightly import']
  }),
  scopes: Type.Array(Scope, {
    minItems: 1,
    maxItems: scopes.length,
    description: '`read` is every GET, `write` every other request; neither implies the other. The secrets that sign ' +
      'webhooks are read with `webhooks` or `write`. ' +
      'No key makes or ends keys, or asks for the data of persons.'
  }),
  expires_at: Type.Optional(Nullable(Instant(), {
    description: 'From then on it is refused; null, or absent, for never.', examples: ['2099-12-31T23:00:00.000Z']
  }))
}, { title: 'ApiKeyInput' })
export type CreateApiKeyBody = Static<typeof CreateApiKeyBody>

export interface NewApiKey { type: 'create', name: string, scopes: Scope[], expires_at: string | null }

/** @param now ISO 8601 @throws Rejection `invalid` */
export function validateNewApiKey (submitted: Submitted<CreateApiKeyBody>, now: string): NewApiKey {
  const { name, scopes, expires_at: until } = soundFields(submitted)
  const body = soundBody(submitted, [
    name !== undefined && isBlank(name) && problem('name', 'must not be blank'),
    scopes !== undefined && new Set(scopes).size < scopes.length && problem('scopes', 'must not have one twice'),
    typeof until === 'string' && Date.parse(until) <= Date.parse(now) && problem('expires_at', 'must be in the future')
  ])
  const expires_at = body.expires_at ? new Date(body.expires_at).toISOString() : null
  return { type: 'create', name: body.name, scopes: body.scopes, expires_at }
}
