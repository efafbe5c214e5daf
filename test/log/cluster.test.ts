// A cluster that goes away and comes back, of which nobody needs to be told; and a subscription goes on where it was,
// whatever a scavenge took, on servers of both kinds.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { AppendOutcomeUnknown, EventStoreUnavailable, RevisionConflict } from '../../src/log/errors.js'
import { noStream, EventLog } from '../../src/log/event-log.js'
import type { Proposed } from '../../src/log/connection.js'
import type { Batch } from '../../src/log/follow.js'
import { eventStoreOn, connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'
import { eventStoreCluster, type Member } from '../support/cluster/cluster.js'
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

t.test('a URL may name two hosts, one of which is an embedded store that ends and starts again', async (t) => {
  const postgres = await scratchPostgres(t)
  const first = await eventStoreOn(postgres.url)
  const url = `esdb://127.0.0.1:${first.port},127.0.0.1:1?tls=false`
  const streams = new EventLog(connectionTo(t, url))
  const append = () => streams.append(name(), [proposed()], noStream)
  await append()
  await first.close()
  await eventually(() => append().then(() => false, (error: unknown) => error instanceof EventStoreUnavailable))
  const second = await eventStoreOn(postgres.url, first.port)
  t.teardown(second.close)
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

/** A cluster whose followers stay behind the events that are written from now on. */
async function behind (t: Test, preference: string) {
  const cluster = await eventStoreCluster(t, store)
  await direct.append(name(), [proposed()], noStream)
  const head = await direct.head()
  for (const member of cluster.members) member.stayBehind(head)
  const open = () => new EventLog(connectionTo(t, `${cluster.url}&nodePreference=${preference}`))
  return { cluster, open }
}

for (const preference of ['leader', 'follower', 'random']) {
  t.test(`with nodePreference=${preference}, no read is answered by a member that is behind`, async (t) => {
    const { open, cluster } = await behind(t, preference)
    const streams = open()
    const stream = name()
    for (let revision = noStream; revision < 3n; revision++) {
      await streams.append(stream, [proposed()], revision)
      if (revision === 0n) cluster.elect(1) // the connection is still with the one that led before
      const { last, head } = { last: await streams.last(stream), head: await streams.head() }
      t.equal(last?.revision, revision + 1n)
      t.equal(head, last?.position)
      t.equal((await open().read(stream)).length, Number(revision) + 2, 'also for a process that has just started')
    }
    await t.rejects(streams.append(stream, [proposed()], 0n), RevisionConflict)
  })
}

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
  for (const gone of ['Happened', 'Elsewhere']) {
    t.test(`${version}: nothing is skipped behind a checkpoint whose event is gone (${gone})`, async (t) => {
      const { member, append, follow } = await served(t, version)
      await append('Happened')
      const checkpoint = await append(gone)
      const later = [await append('Happened'), await append('Happened'), await append('Happened')]
      member.scavenge(checkpoint)
      t.strictSame(await positionsOf(follow(checkpoint), 3), later)
    })
  }

  t.test(`${version}: nothing is skipped where the next event is of another type`, async (t) => {
    const { member, append, follow } = await served(t, version)
    const checkpoint = await append('Happened')
    await append('Elsewhere')
    const later = [await append('Happened'), await append('Happened')]
    member.scavenge(checkpoint)
    t.strictSame(await positionsOf(follow(checkpoint), 2), later)
  })

  t.test(`${version}: what comes first after a scavenge at the end of the log is not skipped`, async (t) => {
    const { member, append, follow } = await served(t, version)
    await append('Happened')
    const checkpoint = await append('Happened')
    member.scavenge(checkpoint)
    const following = positionsOf(follow(checkpoint), 2)
    const later = [await append('Happened'), await append('Happened')]
    t.strictSame(await following, later)
  })
}

const ends: Array<[string, (member: Member) => void, RegExp]> = [
  ['that a server calls too slow', (member) => member.dropSubscriptions(), /Consumer too slow/],
  ['of a server that is shut down', (member) => member.reset(), /cannot be reached/]
]

for (const [whose, end, told] of ends) {
  t.test(`a consumer ${whose} goes on from its last position`, async (t) => {
    const { member, append, follow } = await served(t, '23.10')
    const following = follow(await direct.head())
    const first = await append('Happened')
    t.equal((await following.next()).value?.position, first)
    const dropped = t.rejects(following.next(), told)
    end(member)
    await dropped
    const second = await append('Happened')
    t.strictSame(await positionsOf(follow(first), 1), [second])
  })
}

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
