// What the node says of itself, and what it says of the parts of EventStoreDB that it does not have.
import { once } from 'node:events'
import http from 'node:http'
import grpc from '@grpc/grpc-js'
import t from 'tap'
import { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import type features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { jsonEvent, persistentSubscriptionToStreamSettingsFromDefaults, UnknownError } from '@eventstore/db-client'
import { connect, refused, scratchEventStore } from '../src/testing/scratch-event-store.js'

const { client, store } = await scratchEventStore(t)

t.test('it follows release 24.10, offers batch append, and does not offer what it lacks', async (t) => {
  const stub = new ServerFeaturesClient(`127.0.0.1:${store.port}`, grpc.credentials.createInsecure())
  t.teardown(() => stub.close())
  const supported = await new Promise<features.SupportedMethods>((resolve, reject) => {
    stub.getSupportedMethods(new shared.Empty(), (error, methods) => { if (error === null) resolve(methods); else reject(error) })
  })
  t.equal(supported.getEventStoreServerVersion(), '24.10.0')
  const names = supported.getMethodsList().map((method) => `${method.getServiceName()}/${method.getMethodName()}`)
  t.ok(names.includes('event_store.client.streams.streams/batchappend'))
  t.notOk(names.some((name) => name.includes('persistent')))
})

t.test('a client that discovers finds it as the leader', async (t) => {
  const discovering = connect(t, `esdb+discover://127.0.0.1:${store.port}?tls=false`)
  t.match(await discovering.appendToStream('discovered', jsonEvent({ type: 'A', data: {} })), { success: true })
})

t.test('what it does not have it refuses, and says where it is', async (t) => {
  await refused(t, client.createPersistentSubscriptionToStream('a', 'group', persistentSubscriptionToStreamSettingsFromDefaults()), Error, { code: 12, message: /EventStoreDB/ })
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

t.test('it is alive over HTTP/1.1 on the same port', async (t) => {
  const health = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${store.port}${path}`, { method }).then(({ status }) => status)
  t.equal(await health('/health/live'), 204)
  t.equal(await health('/health/live', 'HEAD'), 204)
  t.equal(await health('/health/live?liveCode=200'), 200)
  t.equal(await health('/elsewhere'), 404)
})

t.test('bytes of no protocol close their own connection only', async (t) => {
  const request = http.request({ port: store.port, host: '127.0.0.1', method: 'GARBAGE' })
  request.on('error', () => {}).end()
  t.match(await client.appendToStream('after-garbage', jsonEvent({ type: 'A', data: {} })), { success: true })
})
