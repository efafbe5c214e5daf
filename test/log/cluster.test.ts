// A cluster that goes away and comes back, of which nobody needs to be told; and a subscription goes on where it was,
// whatever a scavenge took, on servers of both kinds.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { AppendOutcomeUnknown, EventStoreUnavailable, RevisionConflict } from '../../src/log/errors.js'
import { noStream, EventLog } from '../../src/log/event-log.js'
import type { Proposed } from '../../src/log/connection.js'
import type { Batch } from '../../src/log/follow.js'
import { connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { eventStoreCluster } from '../support/cluster/cluster.js'
import { eventually } from '../support/eventually.js'

const { store, connection } = await scratchEventStore(t)
const direct = new EventLog(connection)
const proposed = (): Proposed => ({ id: randomUUID(), type: 'Happened', data: { a: 1 }, metadata: {} })
const name = () => `test-${randomUUID()}`

const rejections: unknown[] = []
const note = (reason: unknown) => { rejections.push(reason) }
process.on('unhandledRejection', note)
process.on('uncaughtException', note)
t.teardown(() => { process.off('unhandledRejection', note).off('uncaughtException', note) })

async function clustered (t: Test) {
  const cluster = await eventStoreCluster(t, store)
  const streams = new EventLog(connectionTo(t, cluster.url, { silentAfterMs: 900 }), { answerWithinMs: 1_000 })
  const append = () => streams.append(name(), [proposed()], noStream)
  await eventually(() => append().then(() => true, () => false)) // the first connection may take its time
  return { cluster, streams, append, members: cluster.members }
}

t.test('an outage of the whole cluster rejects calls, ends no process, and needs no restart', async (t) => {
  const { cluster, streams, append } = await clustered(t)
  const following = streams.follow(
    { after: await streams.head(), eventTypes: ['Happened'], signal: AbortSignal.timeout(20_000) }
  )
  const followed = t.rejects(following.next(), EventStoreUnavailable)
  await cluster.stop()
  await followed
  for (let n = 0; n < 5; n++) {
    await t.rejects(append(), EventStoreUnavailable)
    await t.rejects(streams.head(), EventStoreUnavailable)
  }
  await cluster.start()
  const beganAt = performance.now()
  await eventually(() => append().then(() => true, () => false))
  t.ok(performance.now() - beganAt < 10_000, 'appends go on')
  t.strictSame(rejections, [], 'nothing was left uncaught')
})

t.test('appends go on after a discovery that failed, though the members answer', async (t) => {
  const { cluster, append, members } = await clustered(t)
  cluster.elect(undefined)
  for (const member of members) member.reset()
  await eventually(() => append().then(() => false, (error: unknown) => error instanceof EventStoreUnavailable))
  cluster.elect(1)
  await eventually(() => append().then(() => true, () => false))
})

t.test('a leader that freezes is left for the one that is elected', async (t) => {
  const { cluster, append, members: [frozen] } = await clustered(t)
  frozen.freeze()
  const meanwhile = append()
  meanwhile.catch(() => {}) // expected below
  cluster.elect(1)
  const beganAt = performance.now()
  await eventually(() => append().then(() => true, () => false))
  t.ok(performance.now() - beganAt < 20_000)
  const outcome = await meanwhile.then(() => 'written', (error: unknown) => error)
  const isToldApart = outcome === 'written' || outcome instanceof AppendOutcomeUnknown
  t.ok(isToldApart, 'the append that was sent before is followed up; to find the new leader may take too long for that')
  t.strictSame(rejections, [])
})

t.test('appends of two connections of a process do not end each other', async (t) => {
  const one = await clustered(t)
  const other = await clustered(t)
  one.members[0].answersAfterMs = 1_500
  other.members[0].answersAfterMs = 300
  const failing = one.append()
  failing.catch(() => {}) // expected below
  const staying = Promise.all([other.append(), other.append(), other.append()])
  one.members[0].reset()
  t.equal((await staying).length, 3)
  await failing.catch((error: unknown) => { t.type(error, AppendOutcomeUnknown) })
  t.strictSame(rejections, [])
})

t.test('an append that a leader without the others answers with Timeout is written or not, and found out', async (t) => {
  const { append, streams, members: [leader] } = await clustered(t)
  const stream = name()
  leader.timesOut = true
  t.match(await streams.append(stream, [proposed()], noStream), { revision: 0n })
  t.equal((await direct.read(stream)).length, 1)
  leader.timesOut = false
  await append()
})

t.test('no read is answered by a member that is behind', async (t) => {
  const cluster = await eventStoreCluster(t, store)
  await direct.append(name(), [proposed()], noStream)
  const head = await direct.head()
  for (const member of cluster.members) member.stayBehind(head)
  const open = () => new EventLog(connectionTo(t, `${cluster.url}&nodePreference=follower`))
  const [streams, stream] = [open(), name()]
  for (let revision = noStream; revision < 3n; revision++) {
    await streams.append(stream, [proposed()], revision)
    if (revision === 0n) cluster.elect(1) // the connection is still with the one that led before
    const last = await streams.last(stream)
    t.equal(last?.revision, revision + 1n)
    t.equal(await streams.head(), last?.position)
    t.equal((await open().read(stream)).length, Number(revision) + 2, 'also for a process that has just started')
  }
  await t.rejects(streams.append(stream, [proposed()], 0n), RevisionConflict)
})

t.test('without a leader nothing is written, and the answer says so at once', async (t) => {
  const cluster = await eventStoreCluster(t, store)
  const streams = new EventLog(connectionTo(t, cluster.url))
  const stream = name()
  await streams.append(stream, [proposed()], noStream)
  cluster.elect(undefined)
  const beganAt = performance.now()
  await t.rejects(streams.append(stream, [proposed()], 0n), EventStoreUnavailable)
  await t.rejects(streams.read(stream), EventStoreUnavailable)
  t.ok(performance.now() - beganAt < 5_000)
  t.equal((await direct.read(stream)).length, 1)
  cluster.elect(2)
  t.match(await streams.append(stream, [proposed()], 0n), { revision: 1n })
})

const versions = ['23.10', '24.10'] as const

/** The log behind a single member of its own. */
async function served (t: Test, version: typeof versions[number]) {
  const { members: [member], url } = await eventStoreCluster(t, store, { size: 1, version })
  const streams = new EventLog(connectionTo(t, url))
  const append = async (type: string) => {
    const event = { id: randomUUID(), type, data: {}, metadata: {} }
    return (await direct.append(`test-${randomUUID()}`, [event], noStream)).position
  }
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  const follow = (after: bigint, eventTypes = ['Happened']) => streams.follow({ after, eventTypes, signal: stopping.signal })
  return { member, append, follow }
}

/** The positions of the events that come, until so many have. */
async function positionsOf (following: AsyncGenerator<Batch, void>, count: number): Promise<bigint[]> {
  const positions: bigint[] = []
  for await (const { events } of following) {
    positions.push(...events.map(({ position }) => position))
    if (positions.length >= count) return positions
  }
  return positions
}

for (const version of versions) {
  t.test(`${version}: nothing is skipped behind a checkpoint whose event is gone`, async (t) => {
    const { member, append, follow } = await served(t, version)
    const checkpoint = await append('Happened')
    const first = await append('Happened')
    await append('Elsewhere')
    const later = [first, await append('Happened'), await append('Happened')]
    member.scavenge(checkpoint)
    t.strictSame(await positionsOf(follow(checkpoint), 3), later)
  })
}

t.test('23.10: what comes first after a scavenge at the end of the log is not skipped', async (t) => {
  const { member, append, follow } = await served(t, '23.10')
  const checkpoint = await append('Happened')
  member.scavenge(checkpoint)
  const following = positionsOf(follow(checkpoint), 2)
  const later = [await append('Happened'), await append('Happened')]
  t.strictSame(await following, later)
})

t.test('while a filter matches nothing, an idle 23.10 keeps the patience of its reader short', async (t) => {
  const { member, append, follow } = await served(t, '23.10')
  let position = await direct.head()
  const following = follow(position, ['Never'])
  for (let n = 0; n < 12; n++) {
    const wanted = await append('Elsewhere')
    const beganAt = performance.now()
    while (position < wanted) position = (await following.next()).value?.position ?? wanted
    t.ok(n < 3 || performance.now() - beganAt < 6_000, `passed after ${Math.round(performance.now() - beganAt)} ms`)
  }
  t.ok(member.saidNothing > 0)
})
