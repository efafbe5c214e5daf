// The key of a person comes before the event that is sealed under it, in an append of its own.
import t from 'tap'
import { newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { behindProxies, saysAway, testService, backAfter } from '../../support/service.js'
import { eventsAfter } from '../../support/back-ends/scratch-event-store.js'

t.jobs = 2 // both mostly wait
const service = await testService(t)
const { client, parts: { streams } } = service

t.test('while it is not known whether there is a key, nothing was changed: no event under it was sent', async (t) => {
  const { call, store } = await behindProxies(t, service)
  const before = await streams.head()
  const create = () => call('POST', '/user/lead', { body: newLead({ phone_number: '+15551230402' }) })
  const written = async (wanted: string) =>
    (await eventsAfter(client, before)).filter(({ type }) => type === wanted).length
  store.loseAnswersAfter('PersonKeyCreated')
  const unanswered = create()
  await eventually(async () => await written('PersonKeyCreated') === 1)
  await saysAway(t, [unanswered], 12_000)
  t.equal(await written('LeadCreated'), 0)
  store.cut()
  await eventually(async () => (await create()).status === 200)
  t.equal(await written('LeadCreated'), 1)
  t.equal(await written('PersonKeyCreated'), 1, 'the key is there, and taken')
})

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
