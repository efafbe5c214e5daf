// Keys and tokens that were revoked, or have expired, are refused by every process; and what is known where little is.
import t from 'tap'
import { revokeNow, signToken } from '../../../src/cli/token.js'
import { digestOf } from '../../../src/http/credentials.js'
import { apiKeys } from '../../support/auth/api-keys.js'
import { eventually } from '../../support/eventually.js'
import { post, session } from '../../support/ops/operator.js'
import { testService } from '../../support/service.js'

const service = await testService(t)
const { call, config, parts, parts: { pool } } = service
const keys = apiKeys(service)
const other = await service.start(['api'])
const status = async (bearer: string, url = other.url, path = '/user/me') =>
  (await fetch(url + path, { headers: { authorization: `Bearer ${bearer}` } })).status
const jtiOf = (token: string) =>
  String(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti)

t.test('a revoked key is refused by every process, and is not there any more', async (t) => {
  const { id, key } = await keys.make(['read'])
  t.strictSame([await status(key), await status(key, service.url)], [200, 200])
  t.equal((await call('DELETE', `/user/api-key/${id}`, undefined, { user: '2' })).status, 404)
  const { status: revoked, body } = await call('DELETE', `/user/api-key/${id}`)
  t.strictSame([revoked, body], [200, { message: 'API key revoked successfully' }])
  await eventually(async () => await status(key) === 401 && await status(key, service.url) === 401)
  t.equal((await call('DELETE', `/user/api-key/${id}`)).status, 404)
  t.notMatch((await call('GET', '/user/api-keys')).body.data, [{ id }])
})

t.test('a revocation arrives before the read model has it', async (t) => {
  const { id, key } = await keys.make(['read'])
  t.equal(await status(key), 200)
  await pool.query(`INSERT INTO ledger.revocations (what) VALUES ('key ${id}')`)
  const late = await service.start(['api'])
  t.equal(await status(key, late.url), 401, 'a process that starts looks')
})

t.test('a key ends when it expires', async (t) => {
  const expires_at = new Date(Date.now() + 3_000).toISOString()
  const { key } = await keys.make(['read'], '1', { expires_at })
  await eventually(async () => await status(key) === 401)
  t.ok(Date.now() >= Date.parse(expires_at))
})

t.test('a token that was revoked is refused by every process, and so is the session that it opened', async (t) => {
  const ops = await signToken(config.jwt, { user: 'operator', role: 'ops', ttl: '1h' })
  const { cookie } = await session(other.url, ops)
  const page = async () => (await fetch(`${other.url}/ops`, { headers: { cookie } })).status
  t.strictSame([await page(), await status(ops, other.url, '/metrics')], [200, 200])
  t.equal(await revokeNow(parts, digestOf(jtiOf(ops))), true)
  await eventually(async () => await page() === 401 && await status(ops, other.url, '/metrics') === 401)
  t.equal((await post(`${other.url}/ops/login`, { token: ops })).status, 401)
  t.equal(await revokeNow(parts, digestOf(jtiOf(ops))), false)
  t.equal(
    await status(await signToken(config.jwt, { user: 'operator', role: 'ops', ttl: '1h' }), other.url, '/metrics'), 200
  )
})

t.test('a worker refuses it as well, for what it shows', async (t) => {
  const worker = await service.start(['worker'])
  const ops = await signToken(config.jwt, { user: 'operator', role: 'ops', ttl: '1h' })
  t.equal(await status(ops, worker.url, '/metrics'), 200)
  await revokeNow(parts, digestOf(jtiOf(ops)))
  await eventually(async () => await status(ops, worker.url, '/metrics') === 401)
})
