// The service has the embedded store scavenged, and leaves a real server to its operator.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { collect } from '@ringledger/embedded-event-store/testing'
import { event } from '@ringledger/event-transfer/testing'
import { EventLog } from '../../src/log/event-log.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

t.test('the embedded store removes what was hidden before, also when it is asked twice at once', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  const streams = new EventLog(connection)
  const isLeft = async (id: string) => (await collect(client.readAll())).some(({ event }) => event?.id === id)
  const hidden = async () => {
    const [stream, first] = [randomUUID(), event()]
    await client.appendToStream(stream, [first, event()])
    await client.setStreamMetadata(stream, { truncateBefore: 1 })
    return first.id
  }
  const [one, other] = await Promise.all([1, 2].map(async () => {
    const id = await hidden()
    const scavenged = await streams.scavenge()
    t.notOk(await isLeft(id))
    return scavenged
  }))
  t.equal((one?.events ?? 0) + (other?.events ?? 0), 2)
  t.ok((one?.bytes ?? 0) + (other?.bytes ?? 0) > 0)
  t.match(await streams.scavenge(), { events: 0 })
})

t.test('on another server nothing is begun', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  await client.tombstoneStream('$embedded-event-store') // what only an embedded log has
  t.equal(await new EventLog(connection).scavenge(), undefined)
  t.notOk((await collect(client.readAll())).some(({ event }) => event?.type === '$scavengeStarted'))
})

t.test('a log is read from the middle of a stream, and followed from where nothing is left', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  const streams = new EventLog(connection)
  const { position } = await client.appendToStream('call-a', [event('CallCompleted'), event('CallErased')])
  const { position: end } = await client.appendToStream('call-b', [event('CallCompleted')])
  await client.setStreamMetadata('call-a', { truncateBefore: 1 })
  await streams.scavenge()
  t.same((await streams.read('call-a')).map(({ revision, type }) => [revision, type]), [[1n, 'CallErased']])

  const seen: string[] = []
  const stopping = new AbortController()
  const after = (position?.commit ?? 0n) - 1n
  const eventTypes = ['CallCompleted', 'CallErased']
  for await (const batch of streams.follow({ after, eventTypes, signal: stopping.signal })) {
    seen.push(...batch.events.map(({ stream, type }) => `${stream} ${type}`))
    if (batch.position >= (end?.commit ?? 0n)) break
  }
  stopping.abort()
  t.same(seen, ['call-a CallErased', 'call-b CallCompleted'])
})
