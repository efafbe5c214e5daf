// API keys over HTTP: made, shown once, listed, used within their scopes, revoked. Then the console in a real browser:
// a token or key signs in, and the form of an assistant knows the limits of the API. test/long/console has all pages.
import t from 'tap'
import { apiKeys, newKey } from '../../support/auth/api-keys.js'
import { screens, visit } from '../../support/console/visit.js'
import { eventually } from '../../support/eventually.js'
import { findChromium, openBrowser } from '../../support/ops/operator.js'
import { timestamp } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'
import { revokeNow, signToken } from '../../../src/cli/token.js'
import { digestOf } from '../../../src/http/credentials.js'

const service = await testService(t)
const { call, config, parts, parts: { pool, streams }, token, url } = service
const keys = apiKeys(service)

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

t.test('a key does what its scopes say, and none implies another', async (t) => {
  for (const [scopes, wanted] of [
    [['read'], [200, 403, 403]], [['write'], [403, 201, 200]], [['webhooks'], [403, 403, 200]], [['read', 'write'], [200, 201, 200]]
  ] as const) {
    const { key } = await keys.make([...scopes])
    const send = keys.with(key)
    t.strictSame([
      (await send('GET', '/user/campaigns')).status, (await send('POST', '/user/campaign', { name: 'By key' })).status,
      (await send('GET', '/user/webhook-secret')).status
    ], wanted, scopes.join())
  }
  const { id, key } = await keys.make(['read'])
  t.strictSame((await keys.with(key)('GET', '/user/me')).body.data, {
    id: '1', scopes: ['read'], api_key: { id, name: 'test' }, rate_limit_per_minute: 0
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
  t.match(used.last_used_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/)
  t.same((await call('GET', '/user/api-keys', undefined, { user: 'nobody' })).body.data, [])
})

t.test('a text that is no key, or a key of nobody, is a 401', async (t) => {
  const { key } = await keys.make(['read'])
  for (const wrong of ['rl_', `${key}x`, `rl_${'A'.repeat(43)}`]) {
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
})

const chromium = findChromium()
if (chromium === undefined) t.notOk(process.env.CI, 'without Chromium the console is not tried in a browser')
else {
  const browser = await openBrowser(t, chromium)
  const { page, enter, open, problems } = await visit(browser, url, screens.phone)

  t.test('a link signs in and leaves no token in the address; who is signed in already has to agree', async (t) => {
    await enter(await token('1'))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.notMatch(page.url(), 'token')
    const signedIn = await page.evaluate("sessionStorage.getItem('ringledger')")
    await enter(await token('2')) // without an answer to its question
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    t.equal(await page.evaluate("sessionStorage.getItem('ringledger')"), signedIn, 'another link asks first')
    t.notMatch(page.url(), 'token')
    t.equal(await page.evaluate('document.cookie + Object.keys(localStorage).filter((key) => /token|ringledger/.test(key))'), '')
  })

  t.test('the form of an assistant has every field of the API, with its most', async (t) => {
    await open('assistants/new')
    const { components } = JSON.parse(await (await fetch(`${url}/docs/json`)).text())
    const fields: Record<string, { maximum?: number }> = components.schemas.AssistantInput.properties
    for (const [name, { maximum }] of Object.entries(fields)) {
      if (name === 'variables' || name === 'post_call_schema' || name === 'end_call_tool') continue // several inputs each
      const input = page.locator(`[data-path="${name}"]`)
      t.equal(await input.count(), 1, name)
      if (maximum !== undefined && maximum < 1e9) t.equal(await input.getAttribute('max'), String(maximum), name)
    }
  })

  t.test('a key that may only read changes nothing in the console', async (t) => {
    const { key } = await keys.make(['read'])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await enter(key)
    await open('campaigns')
    await page.getByText('This API key may read, and change nothing.').waitFor()
    t.ok(await page.getByRole('button', { name: 'New campaign' }).isDisabled())
    await open('api-keys')
    await page.getByRole('alert').waitFor()
    t.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'who may not read it cannot try again')
    t.same(problems, [])
  })
}
