// API keys over HTTP: made, shown once, listed, used within their scopes, revoked.
import t from 'tap'
import { apiKeys, newKey } from '../../support/auth/api-keys.js'
import { eventually } from '../../support/eventually.js'
import { timestamp } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'
import { revokeNow, signToken } from '../../../src/cli/token.js'
import { digestOf } from '../../../src/http/credentials.js'

const service = await testService(t)
const { call, config, parts, parts: { pool, streams } } = service
const keys = apiKeys(service)
const campaign = { name: 'By key' }

t.test('a key is made and shown, and neither the log nor the database holds it', async (t) => {
  const { status, body, headers } = await call('POST', '/user/api-key', { ...newKey('read', 'write'), name: 'Import' })
  t.equal(status, 201)
  t.equal(body.message, 'API key created successfully')
  t.strictSame(Object.keys(body.data), ['id', 'name', 'key', 'prefix', 'scopes', 'expires_at', 'created_at'])
  const { id, key, prefix } = body.data
  t.match(key, /^rl_[A-Za-z0-9_-]{40,}$/)
  t.ok(key.startsWith(prefix))
  t.match(body.data, { name: 'Import', scopes: ['read', 'write'], expires_at: null, created_at: timestamp })
  t.equal(headers.get('etag'), '"0"')
  const [stored] = await streams.read(`apikey-${id}`)
  t.equal(stored?.type, 'ApiKeyCreated')
  t.notMatch(JSON.stringify([stored?.data, stored?.metadata]), key.slice(prefix.length))
  t.match(stored?.data, { hash: /^[0-9a-f]{64}$/, prefix })
  const { rows } = await pool.query('SELECT * FROM read_model.api_keys')
  t.notMatch(JSON.stringify(rows), key.slice(prefix.length))
})

t.test('the same Idempotency-Key shows the key again, and it is kept encrypted for that', async (t) => {
  const post = () => call('POST', '/user/api-key', newKey('read'), { headers: { 'idempotency-key': 'once' } })
  const first = await post()
  const again = await post()
  t.strictSame([again.status, again.body], [201, first.body])
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  const { rows } = await pool.query("SELECT * FROM ledger.idempotency_keys WHERE key = 'once'")
  t.equal(rows.length, 1)
  const { key } = first.body.data
  t.notMatch(Buffer.from(rows[0].answer).toString('latin1'), key)
  t.notMatch(JSON.stringify({ ...rows[0], answer: null }), key)
  const { body } = await call('POST', '/user/api-key', newKey('write'), { headers: { 'idempotency-key': 'once' } })
  t.same(Object.keys(body.errors), ['Idempotency-Key'])
  t.equal((await keys.with(key)('GET', '/user/me')).status, 200)
})

t.test('a try that died after its append is finished by the next one, with the same key', async (t) => {
  const headers = { 'idempotency-key': 'died' }
  const first = await call('POST', '/user/api-key', newKey('read'), { headers })
  await pool.query(`UPDATE ledger.idempotency_keys SET committed_at = NULL, about = NULL,
    leased_until = '-infinity' WHERE key = 'died'`) // as the crash leaves it
  const again = await call('POST', '/user/api-key', newKey('read'), { headers })
  t.strictSame(again.body, first.body)
})

t.test('the secrets of webhooks need the scope webhooks or write', async (t) => {
  for (const [scopes, status] of [[['read'], 403], [['webhooks'], 200], [['write'], 200], [['read', 'webhooks'], 200]] as const) {
    const { key } = await keys.make([...scopes])
    for (const [path, found] of [['/user/webhook-secret', 200], ['/user/assistant/999999/webhook-secret', 404]] as const) {
      t.equal((await keys.with(key)('GET', path)).status, status === 403 ? 403 : found, `${scopes.join()} ${path}`)
    }
  }
  const { key } = await keys.make(['webhooks'])
  t.equal((await keys.with(key)('GET', '/user/campaigns')).status, 403, 'and nothing else')
})

t.test('a key does what its scopes say, neither implies the other', async (t) => {
  const [read, write, both] = await Promise.all(
    [keys.make(['read']), keys.make(['write']), keys.make(['read', 'write'])]
  )
  const tried = async ({ key }: { key: string }) => [
    (await keys.with(key)('GET', '/user/campaigns')).status,
    (await keys.with(key)('POST', '/user/campaign', campaign)).status
  ]
  t.strictSame(await tried(read), [200, 403])
  t.strictSame(await tried(write), [403, 201])
  t.strictSame(await tried(both), [200, 201])
  t.strictSame((await keys.with(read.key)('GET', '/user/me')).body.data, {
    id: '1', scopes: ['read'], api_key: { id: read.id, name: 'test' }, rate_limit_per_minute: 0
  })
  const { rows } = await pool.query("SELECT user_id FROM read_model.campaigns WHERE name = 'By key'")
  t.strictSame(rows, [{ user_id: '1' }, { user_id: '1' }], 'it acts for its user')
})

t.test('no key manages keys, nor is it of the role engine or ops', async (t) => {
  const { id, key } = await keys.make(['read', 'write'])
  const send = keys.with(key)
  for (const [method, path, body] of [
    ['POST', '/user/api-key', newKey('read')], ['GET', '/user/api-keys', undefined], ['DELETE', `/user/api-key/${id}`, undefined],
    ['POST', '/engine/calls/x/completed', {}], ['GET', '/metrics', undefined], ['GET', '/ops/api/projections', undefined]
  ] as const) {
    t.equal((await send(method, path, body)).status, 403, `${method} ${path}`)
  }
  t.equal((await send('GET', '/health/ready')).body.checks, undefined)
  t.equal((await send('GET', '/user/me')).status, 200)
})

t.test('keys are listed to their user, with the minute of their last use', async (t) => {
  const { id, key } = await keys.make(['read'], 'lister')
  const list = async () => (await call('GET', '/user/api-keys', undefined, { user: 'lister' })).body
  t.match(await list(), { data: [{ id, name: 'test', scopes: ['read'], last_used_at: null }], meta: { total: 1 } })
  t.notMatch(JSON.stringify(await list()), key)
  await keys.with(key)('GET', '/user/me')
  const [used] = await eventually(async () => {
    const { data } = await list()
    return data[0].last_used_at !== null && data
  })
  t.strictSame(Object.keys(used), ['id', 'name', 'prefix', 'scopes', 'expires_at', 'created_at', 'last_used_at'])
  t.match(used.last_used_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/)
  t.same((await call('GET', '/user/api-keys', undefined, { user: 'nobody' })).body.data, [])
})

t.test('a text that is no key, or a key of nobody, is a 401', async (t) => {
  const { key } = await keys.make(['read'])
  for (const wrong of ['rl_', 'rl_short', `${key}x`, `rl_${'A'.repeat(43)}`, `rl_${'%'.repeat(43)}`, key.toUpperCase()]) {
    const { status, headers } = await keys.with(wrong)('GET', '/user/me')
    t.equal(status, 401, wrong.slice(0, 8))
    t.match(headers.get('www-authenticate'), /^Bearer error="invalid_token"/)
  }
})

const status = async (bearer: string, url = service.url, path = '/user/me') =>
  (await fetch(url + path, { headers: { authorization: `Bearer ${bearer}` } })).status

const { id: revoked, key: early } = await keys.make(['read'])
t.equal(await status(early), 200)
await pool.query(`INSERT INTO ledger.revocations (what) VALUES ('key ${revoked}')`)
const other = await service.start(['api'])

t.test('a revocation arrives before the read model has it', async (t) => {
  t.equal(await status(early, other.url), 401, 'a process that starts looks')
})

t.test('a revoked key is refused by every process, and is not there any more', async (t) => {
  const { id, key } = await keys.make(['read'])
  t.strictSame([await status(key), await status(key, other.url)], [200, 200])
  t.equal((await call('DELETE', `/user/api-key/${id}`, undefined, { user: '2' })).status, 404)
  const { status: revoked, body } = await call('DELETE', `/user/api-key/${id}`)
  t.strictSame([revoked, body], [200, { message: 'API key revoked successfully' }])
  await eventually(async () => await status(key) === 401 && await status(key, other.url) === 401)
  t.equal((await call('DELETE', `/user/api-key/${id}`)).status, 404)
  t.notMatch((await call('GET', '/user/api-keys')).body.data, [{ id }])
})

t.test('a key ends when it expires, and what is wrong with one that is asked for is said by field', async (t) => {
  const wrong = { name: ' ', scopes: ['read', 'read'], expires_at: new Date().toISOString() }
  t.match((await call('POST', '/user/api-key', wrong)).body.errors, {
    name: ['must not be blank'], scopes: ['must not have one twice'], expires_at: ['must be in the future']
  })
  const far = await call('POST', '/user/api-key', { ...newKey('read'), expires_at: '2999-02-01T14:00:01+01:00' })
  t.equal(far.body.data.expires_at, '2999-02-01T13:00:01.000Z')
  const expires_at = new Date(Date.now() + 3_000).toISOString()
  const { key } = await keys.make(['read'], '1', { expires_at })
  await eventually(async () => await status(key) === 401)
  t.ok(Date.now() >= Date.parse(expires_at))
})

t.test('a token that was revoked is refused by every process, also the one that it signed in to the console', async (t) => {
  const ops = await signToken(config.jwt, { user: 'operator', role: 'ops', ttl: '1h' })
  const { jti }: { jti: string } = JSON.parse(Buffer.from(ops.split('.')[1] ?? '', 'base64url').toString())
  const seen = async () => await status(ops, other.url, '/ops/api/queue')
  t.strictSame([await seen(), await status(ops, other.url, '/metrics')], [200, 200])
  t.equal(await revokeNow(parts, digestOf(jti)), true)
  await eventually(async () => await seen() === 401 && await status(ops, other.url, '/metrics') === 401)
  t.equal(await revokeNow(parts, digestOf(jti)), false)
  t.equal(
    await status(await signToken(config.jwt, { user: 'operator', role: 'ops', ttl: '1h' }), other.url, '/metrics'), 200
  )
})
