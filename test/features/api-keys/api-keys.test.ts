// What becomes of API keys: made, revoked, by their user alone; and what a caller may ask for.
import t from 'tap'
import {
  apiKeyDecider, tokenDecider, validateNewApiKey, type RevokeApiKey
} from '../../../src/features/api-keys/model.js'
import type { ApiKeyEvent, TokenEvent } from '../../../src/features/api-keys/events.js'
import { invalid, scenarios } from '../../support/commands/given.js'

const now = '2026-02-01T12:00:00.000Z'
const given = scenarios(apiKeyDecider)
const key = {
  name: 'import', hash: 'a'.repeat(64), prefix: 'rl_12345678', scopes: ['read' as const], expires_at: null
}
const created: ApiKeyEvent =
  { type: 'ApiKeyCreated', data: { api_key_id: 7, user_id: '1', ...key, created_at: now } }
const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: { api_key_id: 7, user_id: '1', revoked_at: now } }
const revoke = (userId = '1'): RevokeApiKey => ({ type: 'revoke', userId, now })
const make = { type: 'create' as const, ...key, ids: [7], userId: '1', now }

t.test('a key is made under its id, once', async (t) => {
  given([]).when(make).then(t, [created])
  given([created]).when(make).then(t, { code: 'id-taken' })
})

t.test('its user revokes it, once; to others it is not there', async (t) => {
  given([created]).when(revoke()).then(t, [revoked])
  given([created, revoked]).when(revoke()).then(t, { code: 'not-found' })
  given([created]).when(revoke('2')).then(t, { code: 'not-found' })
  given([]).when(revoke()).then(t, { code: 'not-found' })
})

t.test('every field that is wrong is named, and a time is told in UTC', async (t) => {
  const asked = (body: object) => ({
    ...make, ...validateNewApiKey({ body: { name: 'x', scopes: ['read'], ...body } }, now)
  })
  const wrong = { name: ' ', scopes: ['read', 'read'], expires_at: now }
  given([]).when(() => asked(wrong)).then(t, invalid({
    name: ['must not be blank'], scopes: ['must not have one twice'], expires_at: ['must be in the future']
  }))
  t.equal(asked({ expires_at: '2026-02-01T14:00:01+01:00' }).expires_at, '2026-02-01T13:00:01.000Z')
  t.equal(asked({}).expires_at, null)
})

t.test('a token is revoked once', async (t) => {
  const command = { jti_digest: 'b'.repeat(64), now }
  const ended: TokenEvent = { type: 'TokenRevoked', data: { jti_digest: command.jti_digest, revoked_at: now } }
  scenarios(tokenDecider)([]).when(command).then(t, [ended])
  scenarios(tokenDecider)([ended]).when(command).then(t, [])
})
