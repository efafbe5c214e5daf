// What the official client may count on beyond the tables of appends, reads and subscriptions.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import pg from 'pg'
import t from 'tap'
import {
  binaryEvent, END, eventTypeFilter, excludeSystemEvents, jsonEvent, MaxAppendSizeExceededError, NO_STREAM, START, StreamDeletedError,
  StreamNotFoundError, streamNameFilter, WrongExpectedVersionError, type ResolvedEvent
} from '@eventstore/db-client'
import { postgresStorage } from '../src/log/table/storage.js'
import { eventually } from './support/eventually.js'
import { collect, refused, scratchEventStore } from '../src/testing/scratch-event-store.js'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'

const { client } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const link = (to: string) => binaryEvent({ type: '$>', data: Buffer.from(to) })
const types = (read: readonly ResolvedEvent[]) => read.map(({ event, link }) => [event?.type, link?.type])

t.test('a fresh log is not empty: what it begins with is the system\'s, and filtered as such', async (t) => {
  const first = (await collect(client.readAll({ maxCount: 1 })))[0]
  t.match(first, { event: { type: /^\$/, streamId: /^\$/ } })
})

t.test('metadata are JSON, bytes or nothing, whatever the data are', async (t) => {
  const stream = randomUUID()
  const bytes = Buffer.from('no JSON')
  const metadata = [{ who: 'ü' }, bytes, Uint8Array.from(bytes), undefined]
  await client.appendToStream(stream, metadata.flatMap((metadata) => [
    jsonEvent({ type: 'J', data: 'a text', metadata }),
    binaryEvent({ type: 'B', data: bytes, metadata })
  ]))
  const read = (await collect(client.readStream(stream))).map(({ event }) => event)
  for (const [index, event] of read.entries()) {
    const wanted = metadata[Math.floor(index / 2)]
    const found = event?.metadata instanceof Uint8Array ? Buffer.from(event.metadata) : event?.metadata
    // Bytes of a JSON event that are not JSON come back as text.
    t.same(typeof found === 'string' ? Buffer.from(found) : found, wanted instanceof Uint8Array ? Buffer.from(wanted) : wanted)
  }
  t.same(read.filter((event) => event?.type === 'J').map((event) => event?.data), Array(4).fill('a text'))
})

t.test('every kind of stream metadata comes back as it was set, and an unknown key too', async (t) => {
  const stream = randomUUID()
  const roles = ['admin']
  const metadata = { maxAge: 2, cacheControl: 15, truncateBefore: 1, maxCount: 12, acl: { readRoles: roles, writeRoles: roles, deleteRoles: roles, metaReadRoles: roles, metaWriteRoles: roles }, bird: '🦃' }
  await client.setStreamMetadata(stream, metadata)
  t.same((await client.getStreamMetadata(stream)).metadata, metadata)
})

t.test('a stream of metadata alone exists for a delete, and not for a tombstone at no stream', async (t) => {
  const [deleted, ended] = [randomUUID(), randomUUID()]
  for (const stream of [deleted, ended]) await client.setStreamMetadata(stream, { cacheControl: 10 })
  t.ok((await client.deleteStream(deleted, { expectedRevision: NO_STREAM })).position)
  await client.tombstoneStream(ended, { expectedRevision: NO_STREAM })
  await refused(t, collect(client.readStream(ended)), StreamDeletedError, { streamName: ended })
  await refused(t, client.deleteStream(randomUUID(), { expectedRevision: NO_STREAM }), WrongExpectedVersionError, { actualVersion: -1n })
})

t.test('a delete is an event of the metadata, in place of all that it said', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, event())
  await client.setStreamMetadata(stream, { maxCount: 7, colour: 'red' })
  const { position } = await client.deleteStream(stream)
  t.match((await collect(client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 1 })))[0], { event: { streamId: `$$${stream}`, type: '$metadata', position } })
  t.same((await client.getStreamMetadata(stream)).metadata, { truncateBefore: Number(2n ** 63n - 1n) })
  await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
})

t.test('an append larger than what gRPC takes by default is refused by its typed error', async (t) => {
  const large = binaryEvent({ type: 'Large', data: new Uint8Array(5 * 1024 * 1024) })
  await refused(t, client.appendToStream(randomUUID(), large), MaxAppendSizeExceededError, { maxAppendSize: 1024 * 1024 })
  await refused(t, client.appendToStream(randomUUID(), large, { credentials: { username: 'a', password: 'b' } }), MaxAppendSizeExceededError, { maxAppendSize: 1024 * 1024 })
})

t.test('many appends at once are all written, in order, and in chunks smaller than an event too', async (t) => {
  const [flooded, chunked] = [randomUUID(), randomUUID()]
  const many = Array.from({ length: 1500 }, () => event())
  await Promise.all(many.map((one) => client.appendToStream(flooded, one)))
  t.same((await collect(client.readStream(flooded))).map(({ event }) => event?.id), many.map(({ id }) => id))
  t.equal((await client.appendToStream(chunked, many, { batchAppendSize: 64 })).nextExpectedRevision, 1499n)
})

t.test('a client that was disposed of goes on', async (t) => {
  const own = (await scratchEventStore(t)).client
  const stream = randomUUID()
  await own.appendToStream(stream, event())
  const subscription = own.subscribeToStream(stream)
  const ended = once(subscription, 'end')
  await once(subscription.on('data', () => {}), 'caughtUp')
  await own.dispose()
  await ended
  t.equal((await own.appendToStream(stream, event())).nextExpectedRevision, 1n)
})

t.test('a subscription ends without an error when it is let go', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, [event(), event()])
  const subscription = client.subscribeToStream(stream)
  const seen = []
  for await (const { event } of subscription) if (seen.push(event?.revision) === 2) await subscription.unsubscribe()
  t.same(seen, [0n, 1n])
})

t.test('a position of 0 is before the first event, and 2^64 - 1 is the end', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, event('Before'))
  const end = 2n ** 64n - 1n
  const subscriptions = [
    client.subscribeToAll({ fromPosition: { commit: 0n, prepare: 0n } }),
    client.subscribeToAll({ fromPosition: { commit: end, prepare: end } }),
    client.subscribeToStream(stream, { fromRevision: end })
  ]
  const seen = subscriptions.map((subscription) => {
    t.teardown(() => subscription.unsubscribe())
    const seen: string[] = []
    subscription.on('data', ({ event }: ResolvedEvent) => { if (event?.streamId === stream || event?.type === '$LogCreated') seen.push(event.type) })
    return seen
  })
  await Promise.all(subscriptions.map((subscription) => once(subscription, 'caughtUp')))
  await client.appendToStream(stream, event('After'))
  await eventually(() => seen.every((types) => types.includes('After')))
  t.same(seen, [['$LogCreated', 'Before', 'After'], ['After'], ['After']])
})

t.test('a subscription to the end gets what is appended after its confirmation, however slow the database is', async (t) => {
  const postgres = await scratchPostgres(t)
  const storage = postgresStorage({ databaseUrl: postgres.url, schema: 'eventstore' })
  const { readers } = storage
  const { client } = await scratchEventStore(t, { postgres, storage })
  const keeper = new pg.Client({ connectionString: postgres.url })
  await keeper.connect()
  t.teardown(() => keeper.end())
  /** Every reading connection waits; answers how to let them go. */
  const occupy = async (key: number) => {
    await keeper.query('select pg_advisory_lock($1)', [key])
    const waiting = Promise.all(Array.from({ length: 4 }, () => readers.query('select pg_advisory_lock_shared($1)', [key])))
    return async () => { await keeper.query('select pg_advisory_unlock($1)', [key]); await waiting }
  }
  const stream = randomUUID()
  await client.appendToStream('elsewhere', event())
  const letFirstLookPass = await occupy(1)
  const subscription = client.subscribeToStream(stream, { fromRevision: END })
  t.teardown(() => subscription.unsubscribe())
  const confirmed = once(subscription, 'confirmation')
  const first = once(subscription, 'data')
  await eventually(() => readers instanceof pg.Pool && readers.waitingCount === 1)
  await client.appendToStream('elsewhere', event()) // what the first look finds may be out of date, so it is not kept
  const letAllPass = await occupy(2)
  await letFirstLookPass()
  await confirmed
  await client.appendToStream(stream, event())
  await letAllPass()
  await client.appendToStream(stream, event())
  t.match(await first, [{ event: { streamId: stream, revision: 0n } }])
})

t.test('a filter looks at the link, not at what it stands for; a target\'s name may hold an @', async (t) => {
  const [target, links] = [`user@${randomUUID()}`, randomUUID()]
  await client.appendToStream(target, event('Target'))
  await client.appendToStream(links, [link(`0@${target}`), event('Plain')])
  t.same(types(await collect(client.readStream(links, { resolveLinkTos: true }))), [['Target', '$>'], ['Plain', undefined]])
  const followed = async (filter: ReturnType<typeof eventTypeFilter>) => {
    const seen: ResolvedEvent[] = []
    const subscription = client.subscribeToAll({ fromPosition: START, resolveLinkTos: true, filter })
    subscription.on('data', (resolved: ResolvedEvent) => { seen.push(resolved) })
    await once(subscription, 'caughtUp')
    await subscription.unsubscribe()
    return seen
  }
  t.same(types(await followed(eventTypeFilter({ prefixes: ['Target'] }))), [['Target', undefined]])
  t.same(types(await followed(eventTypeFilter({ prefixes: ['$>'] }))), [['Target', '$>']])
})

t.test('$all does not show the server\'s own bookkeeping', async (t) => {
  const tag = randomUUID().slice(0, 8)
  const hidden = ['$epoch-information', `$persistentsubscription-$all::${tag}-parked`, `$persistentsubscription-$all::${tag}-checkpoint`]
  const shown = `$persistentsubscription-${tag}::group-parked`
  for (const stream of [...hidden, shown]) await client.appendToStream(stream, event(tag))
  const streams = (await collect(client.readAll())).flatMap(({ event }) => event?.type === tag ? [event.streamId] : [])
  t.same(streams, [shown])
  const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['$'] }) })
  const followed: string[] = []
  subscription.on('data', ({ event }) => { if (event?.type === tag) followed.push(event.streamId) })
  await once(subscription, 'caughtUp')
  await subscription.unsubscribe()
  t.same(followed, [shown])
  t.equal((await collect(client.readStream(hidden[0] ?? ''))).length, 1, 'by its name it is read')
})

t.test('while live, checkpoints come by the number of considered events, and events wait for who handles one', async (t) => {
  const { position } = await client.appendToStream(randomUUID(), event())
  const seen: string[] = []
  let isHandling = false
  const checkpointReached = async () => {
    isHandling = true
    await new Promise((resolve) => setImmediate(resolve))
    isHandling = false
    seen.push('checkpoint')
  }
  const subscription = client.subscribeToAll({ ...(position && { fromPosition: position }), filter: excludeSystemEvents({ checkpointInterval: 2, checkpointReached }) })
  t.teardown(() => subscription.unsubscribe())
  subscription.on('data', () => { seen.push(isHandling ? 'event meanwhile' : 'event') })
  await once(subscription, 'caughtUp')
  const stream = randomUUID()
  for (let n = 0; n < 13; n++) await client.appendToStream(stream, Array.from({ length: 10 }, () => event()))
  await eventually(() => seen.filter((entry) => entry === 'event').length === 130)
  t.same(seen.flatMap((entry, index) => entry === 'checkpoint' ? [index] : []), [64, 129], 'two windows of 32, twice; none when it caught up, for nothing was considered')
  t.notOk(seen.includes('event meanwhile'))
})
