// Keys and revocations outlive Postgres: they are in the log.
import t from 'tap'
import { revokeNow, signToken } from '../../../src/cli/token.js'
import { digestOf } from '../../../src/http/credentials.js'
import { eventually } from '../../support/eventually.js'
import { caller } from '../../support/running-service.js'
import { restorable } from '../../support/restorable.js'
import { configOf } from '../../support/service.js'

const r = await restorable(t)
const { jwt } = configOf({})

t.test('beside a new database a key is a 503 until it is known, and then what it was', async (t) => {
  const before = await r.start()
  const [user, ended] = await Promise.all(
    [signToken(jwt, { user: '1', ttl: '1h' }), signToken(jwt, { user: '1', ttl: '1h' })]
  )
  const jti = JSON.parse(Buffer.from(ended.split('.')[1] ?? '', 'base64url').toString()).jti
  const make = async () => (await eventually(async () => {
    const answer = await caller(before.url)('POST', '/user/api-key', { token: user, body: { name: 'x', scopes: ['read'] } })
    return answer.status === 201 && answer
  })).body.data
  const [kept, revoked] = [await make(), await make()]
  t.equal((await caller(before.url)('DELETE', `/user/api-key/${revoked.id}`, { token: user })).status, 200)
  await r.withParts((parts) => revokeNow(parts, digestOf(jti)))
  await before.stop()

  await r.lose()
  const api = await r.start(['api'])
  const me = async (token: string) => (await caller(api.url)('GET', '/user/me', { token })).status
  t.strictSame([await me(kept.key), await me(revoked.key)], [503, 503])
  t.strictSame([await me(user), await me(ended)], [200, 401], 'a token is looked up in the log meanwhile')
  await r.start(['projector'])
  await eventually(async () => await me(kept.key) === 200)
  t.strictSame([await me(revoked.key), await me(user), await me(ended)], [401, 200, 401])
})
