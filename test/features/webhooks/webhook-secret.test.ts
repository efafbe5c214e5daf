// The secret of a user's webhooks and its rotation, over HTTP and from end to end.
import t, { type Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { isRefusal } from '../../support/running-service.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver, stringsOf, type Received } from '../../support/receivers/receiver.js'
import { testService } from '../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_SCHEDULE: '0s,1h'
})
const { call } = service
const { pool } = service.parts
const get = async (path: string, user = '1') => (await call('GET', path, undefined, { user })).body
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
  const created = await call('POST', '/user/assistant', newAssistant({
    is_webhook_active: true, webhook_url: hook.url
  }), { user })
  const { id } = created.body.data
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
