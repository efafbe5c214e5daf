// Options and secrets of webhooks, over HTTP and at a real receiver.
import t, { type Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { eventually } from '../../support/eventually.js'
import { isRefusal } from '../../support/running-service.js'
import { receiver, stringsOf, type Received } from '../../support/receivers/receiver.js'
import { webhookService } from '../../support/scenes/scenes.js'

const service = await webhookService(t)
const { call, get, create, complete } = service
const { pool } = service.parts
const pathOf = (assistant: number) => `/user/assistant/${assistant}/webhook-options`
const put = (assistant: number, body: object, user = '1') => call('PUT', pathOf(assistant), body, { user })
const none = { headers: {}, max_per_second: null }
const token = 'Bearer 3c469e9d6c5875d3'

t.test('headers go with each attempt, and only their names are kept in the delivery log', async (t) => {
  const hook = await receiver(t)
  const assistant = await create(hook.url)
  t.same(await get(pathOf(assistant)), { data: none })
  const set = await put(assistant, { headers: { Authorization: token, 'X-Team': 'north' }, max_per_second: 20 })
  const options = { headers: { Authorization: '…75d3', 'X-Team': '…' }, max_per_second: 20 }
  t.match(set, { status: 200, body: { message: 'Webhook options updated successfully', data: options } })
  t.same(await get(pathOf(assistant)), { data: options })
  const delivered = await complete(assistant, ({ status }) => status === 'delivered')
  t.match(hook.received[0]?.headers, { authorization: token, 'x-team': 'north', 'content-type': 'application/json' })
  t.same(delivered.request.header_names, ['Authorization', 'X-Team'])
  t.notMatch(JSON.stringify(delivered), /3c469e9d|north/)
  const { rows } = await pool.query(`
    SELECT json_build_object('hooks', (SELECT json_agg(w) FROM ledger.webhooks w),
      'attempts', (SELECT json_agg(a) FROM ledger.webhook_attempts a))::text AS text`)
  t.notMatch(rows[0].text, /3c469e9d|north/)
  t.match((await put(assistant, { max_per_second: null })).body.data, { ...options, max_per_second: null }, 'what is absent stays')
  t.match((await put(assistant, { headers: { 'X-Other': 'something else' } })).body.data, { headers: { 'X-Other': '…else' } })
  const after = await complete(assistant, ({ status }) => status === 'delivered')
  t.same(after.request.header_names, ['X-Other'])
  t.notOk(hook.received[1]?.headers.authorization, 'replaced whole')
  t.same((await put(assistant, { headers: {} })).body.data, none)
  t.same((await complete(assistant, ({ status }) => status === 'delivered')).request.header_names, [])
})

t.test('what no header may be is a 422 that names it, says what would be right, and shows no value', async (t) => {
  const assistant = await create('https://hooks.example.com')
  for (const [words, ...names] of [
    ['has this one already', 'Content-Type', 'content-anything', 'User-Agent', 'Webhook-Id', 'traceparent'],
    ['webhook_url', 'HOST'], ['of the connection', 'Connection', 'transfer-encoding', 'expect'],
    ['letters, digits and hyphens', 'with space', 'ö', '']
  ] as const) {
    for (const name of names) {
      const refused = await put(assistant, { headers: { [name]: 'secret-value' } })
      isRefusal(t, refused, 422, name)
      t.match(refused.body.errors[`headers.${name}`], [words])
      t.equal(Object.keys(refused.body.errors).length, 1)
    }
  }
  for (const value of ['', ' a', 'a ', 'a\nb', 'ü', 'x'.repeat(1_001), 5, null]) {
    const refused = await put(assistant, { headers: { 'X-Api-Key': value } })
    isRefusal(t, refused, 422, JSON.stringify(value).slice(0, 20))
    t.same(Object.keys(refused.body.errors), ['headers.X-Api-Key'])
  }
  t.same((await put(assistant, { headers: { 'X-Key': 'secret-1', 'x-key': 'secret-2' } })).body.errors,
    { 'headers.x-key': ['must be there once: names compare without case'] })
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, 'x'.repeat(1_000)]))
  t.same(Object.keys((await put(assistant, { headers: many(11) })).body.errors), ['headers'])
  t.same(Object.keys((await put(assistant, { headers: { ['x'.repeat(101)]: 'a' } })).body.errors), ['headers'])
  for (const max_per_second of [0, 101, 1.5, '5']) {
    t.same(Object.keys((await put(assistant, { max_per_second })).body.errors), ['max_per_second'])
  }
  const both = await put(assistant, { headers: { host: 'secret-value', 'X-Key': 'ü' }, max_per_second: 0 })
  t.same(Object.keys(both.body.errors).sort(), ['headers.X-Key', 'headers.host', 'max_per_second'], 'all at once')
  t.notMatch(JSON.stringify(both.body), /secret/)
  t.same(await get(pathOf(assistant)), { data: none })
  t.equal((await put(assistant, { headers: many(10), max_per_second: 100 })).status, 200)
})

t.test('options are of their owner alone, also of a webhook that has no URL yet', async (t) => {
  const assistant = await create(null)
  t.equal((await put(assistant, { max_per_second: 5 })).status, 200)
  isRefusal(t, await put(assistant, { max_per_second: 6 }, '2'), 404, 'PUT of another user')
  isRefusal(t, await call('GET', pathOf(assistant), undefined, { user: '2' }), 404, 'GET of another user')
  isRefusal(t, await put(999_999, { max_per_second: 6 }), 404, 'no assistant')
  t.same(await get(pathOf(assistant)), { data: { headers: {}, max_per_second: 5 } })
})

t.test('of two who change the same options, one is refused', async (t) => {
  const assistant = await create(null)
  const { headers } = await call('GET', pathOf(assistant))
  const change = (max_per_second: number) =>
    call('PUT', pathOf(assistant), { max_per_second }, { headers: { 'if-match': headers.get('etag') ?? '' } })
  const both = await Promise.all([change(5), change(6)])
  t.same(both.map(({ status }) => status).sort(), [200, 412])
  const [done] = both.filter(({ status }) => status === 200)
  const read = await call('GET', pathOf(assistant))
  t.same(read.body.data, done?.body.data)
  t.equal(read.headers.get('etag'), done?.headers.get('etag'))
  t.not(read.headers.get('etag'), headers.get('etag'))
})

const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const verifies = (secret: string, { headers, body }: Received) => {
  try {
    return new Webhook(secret).verify(body, stringsOf(headers)) !== undefined
  } catch {
    return false
  }
}

t.test('after a rotation both secrets verify for 24 hours, then the new one alone', async (t) => {
  const { sent: send } = await sending(t, '2')
  const rotate = () => call('POST', '/user/webhook-secret/rotate', undefined, { user: '2' })
  const first = (await get('/user/webhook-secret', '2')).data
  t.equal(first.previous, null)
  const second = (await rotate()).body.data
  t.same((await get('/user/webhook-secret', '2')).data, second)
  t.match(second, { secret: /^whsec_/, previous: { secret: first.secret, expires_at: at } })
  t.ok(Math.abs(Date.parse(second.previous.expires_at) - Date.now() - 86_400_000) < 60_000)
  const third = (await rotate()).body.data
  t.equal(third.previous.secret, second.secret)
  isRefusal(t, await rotate(), 409, 'a third within the day')
  const during = await send()
  for (const { secret } of [first, second, third]) t.ok(verifies(secret, during))
  await pool.query(`
    UPDATE ledger.webhook_secrets SET expires_at = now() - interval '1 s'
    WHERE user_id = '2' AND expires_at IS NOT NULL`)
  const after = await send()
  t.same([first, second, third].map(({ secret }) => verifies(secret, after)), [false, false, true])
  t.match((await get('/user/webhook-secret', '2')).data, { secret: third.secret, previous: null })
  t.equal((await get('/user/webhook-secret', '1')).data.previous, null, 'another user has an own secret')
})

/** A user's assistant with a receiver, and what its next test webhook is. */
async function sending (t: Test, user: string) {
  const hook = await receiver(t)
  const id = await create(hook.url, user)
  const path = `/user/assistant/${id}/webhook-secret`
  const sent = async () => {
    const before = hook.received.length
    await call('POST', `/user/assistant/${id}/webhook-test`, undefined, { user })
    return await eventually(() => hook.received[before] ?? false)
  }
  return { path, sent, own: async () => (await get(path, user)).data }
}

t.test('overlap_hours says how long what signed before signs on, and 0 ends it at once', async (t) => {
  const { sent } = await sending(t, '4')
  const rotate = (body?: object) => call('POST', '/user/webhook-secret/rotate', body, { user: '4' })
  const first = (await get('/user/webhook-secret', '4')).data
  const second = (await rotate({ overlap_hours: 168 })).body.data
  t.ok(Math.abs(Date.parse(second.previous.expires_at) - Date.now() - 7 * 86_400_000) < 60_000)
  const third = (await rotate({})).body.data
  const fourth = await rotate({ overlap_hours: 0 })
  t.match(fourth, { status: 200, body: { data: { secret: /^whsec_/, previous: null } } })
  const webhook = await sent()
  const verified = [first, second, third, fourth.body.data].map(({ secret }) => verifies(secret, webhook))
  t.same(verified, [false, false, false, true])
  for (const overlap_hours of [-1, 169, 1.5, '24', null]) {
    const refused = await rotate({ overlap_hours })
    isRefusal(t, refused, 422, String(overlap_hours))
    t.same(Object.keys(refused.body.errors), ['overlap_hours'])
  }
  t.equal((await rotate({ overlap: 3 })).headers.get('x-ignored-fields'), 'overlap')
})

t.test('an assistant may have a secret of its own, with the user\'s beside it at first', async (t) => {
  const { path, own, sent } = await sending(t, '5')
  const other = await sending(t, '5')
  const users = (await get('/user/webhook-secret', '5')).data
  t.same(await own(), { ...users, own: false })
  const first = (await call('POST', path, undefined, { user: '5' })).body.data
  t.match(first, { secret: /^whsec_/, previous: { secret: users.secret, expires_at: at }, own: true })
  t.not(first.secret, users.secret)
  t.same(await own(), first)
  const signs = async (from: typeof sent, ...secrets: string[]) => {
    const webhook = await from()
    return secrets.map((secret) => verifies(secret, webhook))
  }
  t.same(await signs(sent, first.secret, users.secret), [true, true])
  t.same(await signs(other.sent, first.secret, users.secret), [false, true], 'another assistant of the user')
  const soon = (await call('POST', path, undefined, { user: '5' })).body.data
  t.equal(soon.previous.secret, first.secret, 'the own one, though that of the user signs beside it still')
  t.same(await signs(sent, soon.secret, first.secret, users.secret), [true, true, true])
  const second = (await call('POST', path, { overlap_hours: 0 }, { user: '5' })).body.data
  t.match(second, { previous: null, own: true })
  t.same(await signs(sent, second.secret, first.secret, users.secret), [true, false, false])
  const third = (await call('POST', path, { overlap_hours: 1 }, { user: '5' })).body.data
  t.equal(third.previous.secret, second.secret)
  t.same(await signs(sent, third.secret, second.secret, users.secret), [true, true, false])
})

t.test('without its own secret an assistant goes back to the user\'s, and its own signs on for a day', async (t) => {
  const { path, own, sent } = await sending(t, '6')
  const drop = () => call('DELETE', path, undefined, { user: '6' })
  const users = (await get('/user/webhook-secret', '6')).data
  t.same((await drop()).body.data, { ...users, own: false }, 'nothing to drop')
  const { secret } = (await call('POST', path, undefined, { user: '6' })).body.data
  const back = await drop()
  t.equal(back.status, 200)
  t.match(back.body.data, { secret: users.secret, previous: { secret, expires_at: at }, own: false })
  t.same(await own(), back.body.data)
  const webhook = await sent()
  t.same([users.secret, secret].map((one) => verifies(one, webhook)), [true, true])
  const anew = (await call('POST', path, undefined, { user: '6' })).body.data
  t.equal(anew.previous.secret, users.secret, 'that signed until now, and not the own one before it')
  const next = (await call('POST', path, { overlap_hours: 0 }, { user: '6' })).body.data
  t.equal(next.previous, null)
})

t.test('the secret of another user\'s assistant is not found', async (t) => {
  const { path } = await sending(t, '7')
  for (const method of ['GET', 'POST', 'DELETE']) {
    isRefusal(t, await call(method, path, undefined, { user: '8' }), 404, method)
    isRefusal(t, await call(method, path.replace(/\d+/, '999999'), undefined, { user: '8' }), 404, method)
  }
})

t.test('rotations at the same time are one after the other', async (t) => {
  const answers = await Promise.all(Array.from({ length: 6 }, () =>
    call('POST', '/user/webhook-secret/rotate', undefined, { user: '3' })))
  t.same(answers.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409])
})
