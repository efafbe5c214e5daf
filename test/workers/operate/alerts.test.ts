// The operator's hook: each notice is told there, signed, until the hook has taken it.
import t, { type Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { completeConfig } from '../../../src/cli/running.js'
import { loadConfig } from '../../../src/config.js'
import { alertSecret } from '../../../src/services/complete-config.js'
import { openPoster } from '../../../workers/deliver/post.js'
import { newSecret } from '../../../workers/deliver/sign.js'
import { sendAlerts } from '../../../workers/operate/upkeep.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { answers, receiver, stringsOf } from '../../support/receivers/receiver.js'
import { dataDir } from '../../support/ringledger.js'
import { secrets } from '../../support/auth/secrets.js'

const secret = newSecret()

const { pool } = await scratchLedger(t)

async function alerting (t: Test, notices: number) {
  await pool.query('TRUNCATE ledger.webhook_notices RESTART IDENTITY')
  const hook = await receiver(t)
  const poster = openPoster({ allowCidrs: ['127.0.0.0/8'] })
  t.teardown(() => poster.close())
  const log = keepingLog()
  const { signal } = new AbortController()
  await pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type, assistant_id, reason)
    SELECT '7', 'delivery_exhausted', n, 'expired' FROM generate_series(1, $1) n`, [notices])
  const send = () => sendAlerts({ pool, poster, url: hook.url, secret, version: '1.2.3', signal, log })
  const makeDue = () => pool.query('UPDATE ledger.webhook_notices SET alert_due_at = now() WHERE alert_due_at IS NOT NULL')
  return { hook, log, send, makeDue }
}

t.test('one POST a notice, with its user, signed as webhooks are, and none twice', async (t) => {
  const { hook, send } = await alerting(t, 25)
  t.equal(await send(), 25)
  t.equal(await send(), 0)
  t.equal(hook.received.length, 25)
  for (const { headers, body } of hook.received) {
    const notice = new Webhook(secret).verify(body, stringsOf(headers)) as { id: number, assistant_id: number }
    t.match(notice, { user_id: '7', type: 'delivery_exhausted', delivery_id: null, reason: 'expired', at: /Z$/ })
    t.equal(headers['webhook-id'], `notice-${notice.id}`)
  }
})

t.test('a notice that the hook does not take is sent again later with the same id, and the log says so', async (t) => {
  const { hook, log, send, makeDue } = await alerting(t, 1)
  hook.answer = answers(500)
  t.equal(await send(), 0)
  t.equal(await send(), 0, 'not at once')
  t.equal(hook.received.length, 1)
  t.match(log.lines.map(({ message }) => message), [/ALERT_WEBHOOK_URL/])
  hook.answer = answers(204)
  await makeDue()
  t.equal(await send(), 1)
  t.same(hook.received.map(({ headers }) => headers['webhook-id']), ['notice-1', 'notice-1'])
  t.same(hook.received.map(({ headers }) => headers['webhook-attempt']), ['1', '2'])
})

t.test('the secret follows from SECRET_KEY, or is the one that is set', async (t) => {
  const env = { ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const secretOf = async (given = {}) => alertSecret(await completeConfig(loadConfig({ ...env, ...given })))
  const derived = await secretOf()
  t.equal(Buffer.from(derived.replace('whsec_', ''), 'base64').length, 32)
  t.not(await secretOf({ SECRET_KEY: `${secrets.SECRET_KEY}x` }), derived)
  t.equal(await secretOf({ ALERT_WEBHOOK_SECRET: secret }), secret)
  for (const wrong of ['abc', 'whsec_', 'whsec_YWJj']) {
    t.throws(() => loadConfig({ ...env, ALERT_WEBHOOK_SECRET: wrong }), /ALERT_WEBHOOK_SECRET must be whsec_/)
  }
})
