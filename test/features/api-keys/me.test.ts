// Who a token speaks for.
import t from 'tap'
import { testService } from '../../support/service.js'

t.test('a user learns who they are, what they may do, and how often', async (t) => {
  const { call, token } = await testService(t, ['api'], { RATE_LIMIT_PER_MINUTE: '120' })
  const { status, body } = await call('GET', '/user/me', undefined, { user: 'user-7' })
  t.equal(status, 200)
  t.strictSame(body, { data: { id: 'user-7', scopes: ['read', 'write'], api_key: null, rate_limit_per_minute: 120 } })
  const as = async (authorization: string) =>
    (await call('GET', '/user/me', undefined, { headers: { authorization } })).status
  t.equal(await as(`Bearer ${await token('engine', 'engine')}`), 403)
  t.equal(await as('Bearer x'), 401)
})

t.test('without a limit it is 0', async (t) => {
  const { call } = await testService(t, ['api'], { RATE_LIMIT_PER_MINUTE: '0' })
  t.match((await call('GET', '/user/me')).body, { data: { id: '1', rate_limit_per_minute: 0 } })
})
