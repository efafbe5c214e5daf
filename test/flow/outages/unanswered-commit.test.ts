// A change of the delivery log, which writes no event, is one transaction: its commit may be done and not answered.
import t from 'tap'
import { backAfter, behindProxies, testService } from '../../support/service.js'

const service = await testService(t)

t.test('a commit whose answer never came is a failure of unknown outcome, which the same key resolves', async (t) => {
  const { call, postgres } = await behindProxies(t, service)
  const rotate = () => call('POST', '/user/webhook-secret/rotate', { body: {}, headers: { 'idempotency-key': 'one' } })
  const { data: first } = (await service.call('GET', '/user/webhook-secret')).body
  postgres.loseAnswersAfter('COMMIT')
  const unknown = await rotate()
  t.match(unknown, { status: 500, body: { message: 'Rotating the secret failed' } })
  t.notOk(unknown.headers.has('retry-after'))
  postgres.cut()
  await backAfter(rotate, 200)
  const resolved = await rotate()
  t.equal(resolved.headers.get('idempotent-replayed'), 'true')
  t.match(resolved.body, { data: { previous: { secret: first.secret } } }, 'it was rotated once')
  t.strictSame((await service.call('GET', '/user/webhook-secret')).body, resolved.body)
})
