// Logs of whole runs are read for what must never stand in them, by a search that would find it.
import t from 'tap'
import { secrets } from '../support/auth/secrets.js'
import { token } from '../support/running-service.js'
import { leaksIn, readLog } from '../support/run/leaks.js'

const planted = [
  '+15557654321', 'tel:+15557654321', 'ada.byron@hidden.example', 'ada.byron%40hidden.example',
  await token(secrets.JWT_SECRET, '1'), 'Bearer a-token-for-metrics', 'whsec_c2VjcmV0IG9mIGEgdXNlcg==', secrets.SECRET_KEY,
  'postgres://ringledger:hunter2@127.0.0.1/x', 'https://hooks.example.com/a?key=hidden', '/user/leads?phone_number=%2B15557654321'
]

t.test('what must not stand in a log is found, whatever it is', async (t) => {
  for (const text of planted) t.equal(leaksIn(`{"level":30,"msg":"${text}"}\n{"level":30}`).length, 1, text)
  t.strictSame(leaksIn('made up here', ['made up']), ['made up: made up here'])
})

t.test('what may stand there is not', async (t) => {
  for (const text of [
    '2026-01-31T09:00:00+00:00', 'at node_modules/@fastify/jwt/x.js:1:15557654321', 'AssistantUpdated at assistant-1@1',
    'esdb://127.0.0.1:2113?tls=false', 'http://127.0.0.1:3000/docs'
  ]) t.strictSame(leaksIn(`{"msg":"${text}"}`), [], text)
})

t.test('a service of a test that logs it fails the test', async (t) => {
  const undo: Array<() => unknown> = []
  const log = readLog({ teardown: (each) => { undo.push(each) } })
  log.info('nothing of theirs')
  for (const each of undo) each()
  log.debug({ err: new Error(`no lead ${planted[0]}`) }, 'request failed')
  for (const each of undo) t.throws(each, { message: /a phone number: .*request failed/ })
})
