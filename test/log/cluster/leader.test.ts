// What decides is read from the leader, wherever the connection leads at first.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { EventStoreUnavailable, RevisionConflict } from '../../../src/log/errors.js'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import type { Proposed } from '../../../src/log/connection.js'
import { connectionTo, scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { eventStoreCluster } from '../../support/cluster/cluster.js'

const { store, connection } = await scratchEventStore(t)
const direct = new EventLog(connection)
const proposed = (): Proposed => ({ id: randomUUID(), type: 'Happened', data: { a: 1 }, metadata: {} })
const name = () => `test-${randomUUID()}`

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
  t.ok(performance.now() - beganAt < 2_000)
  t.equal((await direct.read(stream)).length, 1)
  cluster.elect(2)
  t.match(await streams.append(stream, [proposed()], 0n), { revision: 1n })
})
