// An API key: how its events add up, its rules, what callers send and see of it; and the rule for tokens.
import Type, { type Static } from 'typebox'
import { idTaken, isBlank, notOwn, problem, soundBody, soundFields, type Submitted } from '../../domain/rejection.js'
import { type Aggregate, deciding, idAt, type Circumstances, type Decider } from '../../domain/events.js'
import { At, Id, Instant, notBlank, Nullable } from '../../domain/json.js'
import { apiKeyEventTypes, Scope, scopes, type ApiKeyEvent, type TokenEvent } from './events.js'

type Created = Extract<ApiKeyEvent, { type: 'ApiKeyCreated' }>['data']

/** `isRevoked`: it is refused for good. Its id is not given out again. */
export type ApiKey = Created & { isRevoked?: true }

/** Undefined before its creation. */
type ApiKeyState = ApiKey | undefined

export function evolve (state: ApiKeyState, event: ApiKeyEvent): ApiKeyState {
  switch (event.type) {
    case 'ApiKeyCreated': return state ?? { ...event.data }
    case 'ApiKeyRevoked': return state && { ...state, isRevoked: true }
    default: return event satisfies never
  }
}

export const CreateApiKeyBody = Type.Object({
  name: Type.String({
    minLength: 1, maxLength: 255, ...notBlank, description: 'What it is for.', examples: ['Nightly import']
  }),
  scopes: Type.Array(Scope, {
    minItems: 1,
    maxItems: scopes.length,
    description: '`read` is every GET, `write` every other request; neither implies the other. The secrets that sign ' +
      'webhooks are read with `webhooks` or `write`. No key makes or ends keys, or asks for the data of persons.'
  }),
  expires_at: Type.Optional(Nullable(Instant(), {
    description: 'From then on it is refused; null, or absent, for never.', examples: ['2099-12-31T23:00:00.000Z']
  }))
}, { title: 'ApiKeyInput' })
export type CreateApiKeyBody = Static<typeof CreateApiKeyBody>

/** @param now ISO 8601 @throws Rejection `invalid` */
export function validateNewApiKey (submitted: Submitted<CreateApiKeyBody>, now: string) {
  const { name, scopes, expires_at: until } = soundFields(submitted)
  const body = soundBody(submitted, [
    name !== undefined && isBlank(name) && problem('name', 'must not be blank'),
    scopes !== undefined && new Set(scopes).size < scopes.length && problem('scopes', 'must not have one twice'),
    typeof until === 'string' && Date.parse(until) <= Date.parse(now) && problem('expires_at', 'must be in the future')
  ])
  const expires_at = body.expires_at ? new Date(body.expires_at).toISOString() : null
  return { type: 'create' as const, name: body.name, scopes: body.scopes, expires_at }
}

/** `ids` holds the new key's; `hash` and `prefix` are all that an event holds of the key itself. */
export type CreateApiKey = ReturnType<typeof validateNewApiKey> & { hash: string, prefix: string } & Circumstances

const apiKey: Aggregate<ApiKeyState, ApiKeyEvent> =
  { initialState: undefined, eventTypes: apiKeyEventTypes, evolve }

export const apiKeyDecider = deciding(apiKey, {
  create ({ ids, userId, name, hash, prefix, scopes, expires_at, now }: CreateApiKey, state) {
    if (state) throw idTaken()
    const ofKey = { name, hash, prefix, scopes, expires_at }
    return [{ type: 'ApiKeyCreated', data: { api_key_id: idAt(ids, 0), user_id: userId, ...ofKey, created_at: now } }]
  },
  revoke ({ userId, now }: Omit<Circumstances, 'ids'>, state) {
    if (state?.user_id !== userId || state.isRevoked) throw apiKeyNotFound()
    return [{ type: 'ApiKeyRevoked', data: { api_key_id: state.api_key_id, user_id: userId, revoked_at: now } }]
  }
})

export const apiKeyNotFound = () => notOwn('API key')

const shown = {
  id: Id({}),
  name: Type.String({ examples: ['Nightly import'] }),
  prefix: Type.String({ description: 'How the key begins, to tell one from another.', examples: ['rl_q3VXhZ0s'] }),
  scopes: Type.Array(Scope),
  expires_at: Nullable(At('ISO 8601, UTC. From then on it is refused; null for never.')),
  created_at: At('ISO 8601, UTC. ')
}

export const ApiKeyItem = Type.Object({
  ...shown,
  last_used_at: Nullable(At(
    'ISO 8601, UTC. The minute of its last use; null where it was not used. A new database begins anew.'))
}, { title: 'ApiKey' })
export type ApiKeyItem = Static<typeof ApiKeyItem>

const { id, name, ...rest } = shown
export const NewKeyAnswer = Type.Object({
  id, name, key: Type.String({ description: 'The key, shown this once.' }), ...rest
}, { title: 'CreatedApiKey' })
export type NewKeyAnswer = Static<typeof NewKeyAnswer>

/** Only the answer that creates a key shows the key itself. */
export function describeNewKey (created: ApiKey, key: string): NewKeyAnswer {
  const { api_key_id, name, prefix, scopes, expires_at, created_at } = created
  return { id: api_key_id, name, key, prefix, scopes, expires_at, created_at }
}

export const tokenDecider: Decider<{ isRevoked: boolean }, TokenEvent, { jti_digest: string, now: string }> = {
  initialState: { isRevoked: false },
  eventTypes: ['TokenRevoked'],
  evolve: () => ({ isRevoked: true }),
  decide: ({ jti_digest, now }, { isRevoked }) =>
    isRevoked ? [] : [{ type: 'TokenRevoked', data: { jti_digest, revoked_at: now } }]
}
