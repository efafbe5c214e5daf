// The key of a person comes before the event that is sealed under it, in an append of its own.
import t from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { behindProxies, saysAway, testService, backAfter } from '../../support/service.js'
import { eventsAfter } from '../../support/back-ends/scratch-event-store.js'

const service = await testService(t)
const { client, parts: { streams } } = service
const engine = await service.token('engine', 'engine')
const assistant: number = (await service.call('POST', '/user/assistant', newAssistant())).body.data.id

const commands = {
  LeadCreated: { path: '/user/lead', status: 200, body: newLead({ phone_number: '+15551230402' }) },
  CallCompleted: {
    path: '/engine/calls/unanswered-key/completed',
    status: 202,
    token: engine,
    body: callReport(assistant, { from: '+15551230403' })
  }
}

for (const [type, { path, status, ...request }] of Object.entries(commands)) {
  t.test(`while it is not known whether there is a key, nothing was changed: no ${type} was sent`, async (t) => {
    const { call, store } = await behindProxies(t, service)
    const before = await streams.head()
    const written = async (wanted: string) =>
      (await eventsAfter(client, before)).filter(({ type }) => type === wanted).length
    store.loseAnswersAfter('PersonKeyCreated')
    const unanswered = call('POST', path, request)
    await eventually(async () => await written('PersonKeyCreated') === 1)
    await saysAway(t, [unanswered], 12_000)
    t.equal(await written(type), 0)
    store.cut()
    await eventually(async () => (await call('POST', path, request)).status === status)
    t.equal(await written(type), 1)
    t.equal(await written('PersonKeyCreated'), 1, 'the key is there, and taken')
  })
}

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
