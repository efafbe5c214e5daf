// What the node says of itself, and what it says of the parts of EventStoreDB that it does not have.
import { once } from 'node:events'
import t from 'tap'
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import { jsonEvent, persistentSubscriptionToStreamSettingsFromDefaults, UnknownError } from '@eventstore/db-client'
import { connect, refused, scratchEventStore } from './support/scratch-event-store.js'
import { asked, credentials, empty } from './support/wire.js'
import { spawn } from 'node:child_process'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'
import { eventStoreEntry, eventStoreProcess } from './support/event-store-process.js'

const { client, store } = await scratchEventStore(t)
const address = `127.0.0.1:${store.port}`

t.test('it follows release 24.10, and its features are those of a node without persistent subscriptions', async (t) => {
  const node = new ServerFeaturesClient(address, credentials)
  t.teardown(() => node.close())
  const supported = await asked<features.SupportedMethods>((done) => node.getSupportedMethods(empty(), done))
  const methods = supported.getMethodsList().map((method) => (
    [method.getServiceName(), method.getMethodName(), ...method.getFeaturesList()].join(' ')
  ))
  t.equal(supported.getEventStoreServerVersion(), '24.10.0')
  t.same(methods.sort(), [
    'event_store.client.gossip.gossip read',
    'event_store.client.server_features.serverfeatures getsupportedmethods',
    'event_store.client.streams.streams append',
    'event_store.client.streams.streams batchappend deadline_duration',
    'event_store.client.streams.streams delete',
    'event_store.client.streams.streams read position events',
    'event_store.client.streams.streams tombstone'
  ])
})

t.test('a client that discovers finds one member: itself, leading, where it can be reached', async (t) => {
  const discovering = connect(t, `esdb+discover://127.0.0.1:${store.port}?tls=false`)
  t.match(await discovering.appendToStream('discovered', jsonEvent({ type: 'A', data: {} })), { success: true })
})

t.test('what it does not have it refuses, and says where it is', async (t) => {
  const settings = persistentSubscriptionToStreamSettingsFromDefaults()
  const created = client.createPersistentSubscriptionToStream('a', 'group', settings)
  await refused(t, created, Error, { code: 12, message: /EventStoreDB/ })
  await refused(t, client.listProjections(), Error, { message: /EventStoreDB/ })
  const subscription = client.subscribeToPersistentSubscriptionToStream('a', 'group')
  t.match(await once(subscription, 'error'), [{ message: /EventStoreDB/ }])
})

t.test('what the client asks for over HTTP instead is refused in the same words', async (t) => {
  const message = /single-machine event store.*EventStoreDB/
  await refused(t, client.getPersistentSubscriptionToStreamInfo('a', 'group'), UnknownError, { message })
  await refused(t, client.listAllPersistentSubscriptions(), UnknownError, { message })
  await refused(t, client.replayParkedMessagesToStream('a', 'group'), UnknownError, { message })
  await refused(t, client.restartPersistentSubscriptionSubsystem(), UnknownError, { message })
})

t.test('as a process of its own it says where it listens, serves, and goes when its stdin closes', async (t) => {
  const postgres = await scratchPostgres(t)
  const child = spawn(process.execPath, [eventStoreEntry, '--port', '0'], {
    env: { ...process.env, DATABASE_URL: postgres.url, RINGLEDGER_STOP_ON_STDIN_CLOSE: '1' }, stdio: ['pipe', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data') as [Buffer]
  const port = /^LISTENING (\d+)\n$/.exec(line.toString())?.[1]
  t.ok(port)
  await connect(t, `esdb://127.0.0.1:${port}?tls=false`).appendToStream('a', jsonEvent({ type: 'A', data: {} }))
  t.equal((await fetch(`http://127.0.0.1:${port}/health/live`)).status, 204)
  child.stdin.end()
  t.same(await once(child, 'exit'), [0, null])
})
t.test('a process that cannot start says why in one line and fails', async (t) => {
  const start = async (env: Record<string, string>) => {
    const child = spawn(process.execPath, [eventStoreEntry], {
      env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'ignore', 'pipe']
    })
    let errors = ''
    child.stderr.on('data', (text: Buffer) => { errors += text.toString() })
    const [status] = await once(child, 'close') as [number]
    return { status, errors }
  }
  const nowhere = { DATABASE_URL: 'postgres://postgres@127.0.0.1:1/postgres' }
  const [unset, unreachable] = await Promise.all([start({}), start(nowhere)])
  t.match(unset, { status: 1, errors: /^The event store cannot go on: DATABASE_URL is not set\n$/ })
  t.match(unreachable, { status: 1, errors: /^The event store cannot go on: .*ECONNREFUSED.*\n$/ })
})

t.test('a process goes on SIGTERM, and ends open streams as cancelled', async (t) => {
  const postgres = await scratchPostgres(t)
  const server = await eventStoreProcess(t, postgres.url)
  const subscription = connect(t, `esdb://127.0.0.1:${server.port}?tls=false`).subscribeToAll()
  await once(subscription, 'caughtUp')
  const failed = once(subscription, 'error')
  server.process().kill('SIGTERM')
  t.match(await failed, [{ type: 'cancelled' }])
  t.equal(await server.exited(), 0)
})
