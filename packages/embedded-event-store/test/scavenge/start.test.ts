// A scavenge is started, and told of in the log, as EventStoreDB does.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { OperationsClient } from '@eventstore/db-client/generated/operations_grpc_pb.js'
import operations from '@eventstore/db-client/generated/operations_pb.js'
import { eventually } from '@ringledger/embedded-postgres/testing'
import { collect, scratchEventStore } from '../support/scratch-event-store.js'
import { scavenge } from '../support/scavenge.js'

const { client, store } = await scratchEventStore(t)
const url = `http://127.0.0.1:${store.port}/admin/scavenge`
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))

async function startOverGrpc (client: EventStoreDBClient): Promise<operations.ScavengeResp.AsObject> {
  const answer = await client['execute'](OperationsClient, 'startScavenge', (service) =>
    new Promise<operations.ScavengeResp>((resolve, reject) => {
      const [metadata, options] = client['callArguments']({})
      service.startScavenge(new operations.StartScavengeReq(), metadata, options, (error, answer) => {
        if (error) reject(error)
        else resolve(answer)
      })
    }))
  return answer.toObject()
}

const hasEnded = async (id: string) => (await collect(client.readStream(`$scavenges-${id}`))).length === 2

t.test('over HTTP, and $scavenges tells when and how it ended', async (t) => {
  await client.appendToStream('a', events(3))
  await client.setStreamMetadata('a', { maxCount: 1 })
  const { scavengeId } = await scavenge(store, client)
  const told = await collect(client.readStream(`$scavenges-${scavengeId}`))
  t.match(told.map(({ event }) => [event?.type, event?.data]), [
    ['$scavengeStarted', { scavengeId, nodeEndpoint: `127.0.0.1:${store.port}` }],
    ['$scavengeCompleted', { scavengeId, result: 'Success', timeTaken: /^00:00:\d\d\.\d{3}$/, spaceSaved: Number, eventsRemoved: 2 }]
  ])
  const list = () => collect(client.readStream('$scavenges', { resolveLinkTos: true }))
  await eventually(async () => (await list()).length === 2) // its link follows the event
  const listed = await list()
  t.same(listed.map(({ event }) => event?.type), ['$scavengeStarted', '$scavengeCompleted'])
  t.match(await client.getStreamMetadata('$scavenges'), { metadata: { maxAge: 30 * 24 * 3600 } })
})

t.test('over gRPC; while one is under way, another is not begun, by either way', async (t) => {
  await Promise.all(Array.from({ length: 20 }, async () => {
    const stream = randomUUID()
    await client.appendToStream(stream, events(500))
    await client.setStreamMetadata(stream, { maxCount: 1 })
  }))
  const [first, second, overHttp] = await Promise.all([
    startOverGrpc(client), startOverGrpc(client), fetch(url, { method: 'POST' })
  ])
  t.same([first.scavengeResult, second.scavengeResult].sort(), [0, 1], 'started, and in progress')
  t.equal(second.scavengeId, first.scavengeId)
  t.equal(overHttp.status, 400)
  t.same(await overHttp.json(), { scavengeId: first.scavengeId })
  await eventually(() => hasEnded(first.scavengeId))
})

t.test('a page in a browser starts none, and other operations are not here', async (t) => {
  for (const [name, value] of [['origin', 'http://evil.test'], ['sec-fetch-site', 'cross-site']] as const) {
    t.equal((await fetch(url, { method: 'POST', headers: { [name]: value } })).status, 403)
  }
  t.equal((await fetch(url)).status, 501)
  const shutdown = await fetch(`http://127.0.0.1:${store.port}/admin/shutdown`, { method: 'POST' })
  t.equal(shutdown.status, 501)
})

t.test('writers and subscribers go on meanwhile', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, events(5_000))
  await client.setStreamMetadata(stream, { maxCount: 1 })
  const { scavengeId } = await startOverGrpc(client)
  let written = 0
  for (; !await hasEnded(scavengeId).catch(() => false); written++) {
    await client.appendToStream(`beside-${scavengeId}`, events(1), { expectedRevision: written === 0 ? 'no_stream' : BigInt(written - 1) })
  }
  t.ok(written > 0)
  t.equal((await collect(client.readStream(`beside-${scavengeId}`))).length, written)
})
