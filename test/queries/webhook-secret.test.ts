// The secret of a user's webhooks and its rotation, over HTTP and from end to end.
import t from 'tap'
import { Webhook } from 'standardwebhooks'
import { isRefusal } from '../support/http/is-refusal.js'
import { newAssistant } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { receiver, stringsOf, type Received } from '../support/receivers/receiver.js'
import { testService } from '../support/service.js'

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
  const hook = await receiver(t)
  const assistant = (await call('POST', '/user/assistant', newAssistant({
    is_webhook_active: true, webhook_url: hook.url
  }), { user: '2' })).body.data.id
  const send = async () => {
    const before = hook.received.length
    await call('POST', `/user/assistant/${assistant}/webhook-test`, undefined, { user: '2' })
    return await eventually(() => hook.received[before] ?? false)
  }
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

t.test('rotations at the same time are one after the other', async (t) => {
  const answers = await Promise.all(Array.from({ length: 6 }, () =>
    call('POST', '/user/webhook-secret/rotate', undefined, { user: '3' })))
  t.same(answers.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409])
})
