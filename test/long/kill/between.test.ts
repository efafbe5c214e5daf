// An api is killed between its append and the answer that the Idempotency-Key would keep, and the read model is far
// behind: the next api gives the answer, to each kind of command, and goes on giving it.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { eventsAfter, idOf } from '../../support/back-ends/scratch-event-store.js'
import { eventually } from '../../support/eventually.js'
import { secrets } from '../../support/auth/secrets.js'
import { dataDir, listeningUrl, ringledger } from '../../support/ringledger.js'
import { caller } from '../../support/running-service.js'
import { testService } from '../../support/service.js'

const service = await testService(t, [])
const { client, parts: { streams } } = service
const env = {
  ...secrets,
  DATABASE_URL: service.urls.databaseUrl,
  EVENTSTORE_URL: service.urls.eventStoreUrl,
  DATA_DIR: dataDir(t),
  PORT: '0',
  LOG_LEVEL: 'warn'
}
const token = await service.token('1')

async function start (role: 'api' | 'projector') {
  const process = ringledger(t, [role], env)
  const call = caller(await process.says(listeningUrl))
  const kill = async () => {
    process.signal('SIGKILL')
    await process.ended
  }
  return {
    kill,
    post: (path: string, body: object, key: string = randomUUID()) =>
      call('POST', path, { token, body, headers: { 'idempotency-key': key } })
  }
}

const commands = {
  AssistantCreated: { path: '/user/assistant', body: newAssistant(), status: 201 },
  LeadCreated: { path: '/user/lead', body: newLead({ phone_number: '+15551239001' }), status: 200 }
}

t.test('the answer that was never given', async (t) => {
  const projector = await start('projector')
  const doomed = await start('api')
  await eventually(async () => (await doomed.post('/user/assistant', newAssistant())).status === 201)
  await eventually(async () => (await doomed.post('/user/lead', newLead())).status === 200)
  await projector.kill()
  const before = await streams.head()
  const sent = Object.entries(commands).map(([type, { path, body }]) =>
    doomed.post(path, body, type).then(() => 'answered', () => 'lost'))
  const events = await eventually(async () => {
    const found = (await eventsAfter(client, before)).filter(({ type }) => type in commands)
    return found.length === sent.length && found
  })
  await doomed.kill() // as it waits for the read model
  t.strictSame(await Promise.all(sent), ['lost', 'lost'])

  const next = await start('api')
  t.equal((await next.post('/user/assistant', newAssistant())).status, 503, 'it gives out no ids yet')
  for (const [type, { path, body, status }] of Object.entries(commands)) {
    const again = () => next.post(path, body, type)
    const first = await eventually(async () => {
      const answer = await again()
      return answer.status !== 409 && answer // while the lease of the dead runs
    }, 20_000)
    t.equal(first.status, status)
    t.ok(events.some((event) => event.type === type && idOf(event) === first.body.data?.id), 'the id of the event')
    t.strictSame([first.headers.get('idempotent-replayed'), first.headers.get('x-read-model')], ['true', 'pending'])
    t.strictSame((await again()).body, first.body)
  }
  const written = (await eventsAfter(client, before)).filter(({ type }) => type in commands)
  t.equal(written.length, sent.length, 'nothing twice')
})
