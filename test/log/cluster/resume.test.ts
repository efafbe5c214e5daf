// A subscription goes on where it was, whatever a scavenge took, on servers of both kinds.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Batch } from '../../../src/log/follow.js'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { connectionTo, scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { eventStoreCluster, type Member } from '../../support/cluster/cluster.js'

const versions = ['23.10', '24.10'] as const

/** A log of its own behind a single member. */
async function served (t: Test, version: typeof versions[number]) {
  const { store, connection } = await scratchEventStore(t)
  const direct = new EventLog(connection)
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
    const first = await append('Happened')
    const following = follow(0n)
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
  const following = follow(0n, ['Never'])
  let position = 0n
  for (let n = 0; n < 12; n++) {
    const wanted = await append('Elsewhere')
    const beganAt = performance.now()
    while (position < wanted) position = (await following.next()).value?.position ?? wanted
    t.ok(n < 3 || performance.now() - beganAt < 6_000, `passed after ${Math.round(performance.now() - beganAt)} ms`)
  }
  t.ok(member.saidNothing > 0)
})
