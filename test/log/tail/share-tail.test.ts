// Who follows the end of the log shares one subscription, and is neither held up nor failed by another.
import t from 'tap'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { eventually } from '../../support/eventually.js'
import { follower, happen, sharing, types, typesOf } from './followers.js'

const { connection } = await scratchEventStore(t)
const direct = new EventLog(connection)

const shared = (through: Streams = direct, maxBytes?: number) => sharing(through, maxBytes)

t.test('those at the end have one subscription, and each gets its types in log order', async (t) => {
  const { counted, streams } = shared()
  const after = await direct.head()
  const followers = [['A'], ['A', 'B'], ['C'], types].map((eventTypes) => follower(t, streams, { eventTypes, after }))
  const last = await happen(direct, ['A', 'B', 'Other', 'C', 'A', 'D'])
  await eventually(() => followers.map(typesOf).join() === 'AA,ABA,C,ABCAD')
  t.equal(counted.opened(), 1)
  streams.lookNow?.()
  await eventually(() => followers.every(({ reached }) => reached() >= last))
  for (const each of followers) await each.stop()
  await eventually(() => counted.open() === 0)
})

t.test('events of others are passed at once when somebody waits, and in a while else', async (t) => {
  const { streams } = shared()
  const each = follower(t, streams, { eventTypes: ['A'], after: await direct.head() })
  await happen(direct, ['A'])
  await eventually(() => typesOf(each) === 'A')
  const other = follower(t, streams, { eventTypes: ['B'], after: each.reached() })
  const position = await happen(direct, ['B'])
  await eventually(() => typesOf(other) === 'B')
  streams.lookNow?.()
  await eventually(() => each.reached() >= position)
  const later = await happen(direct, ['B', 'Other'])
  await eventually(() => each.reached() >= later && other.reached() >= later)
  t.equal(typesOf(each), 'A')
})

t.test('a deferred event comes with one that is not, or a moment later', async (t) => {
  const { streams } = shared()
  const each = follower(t, streams, { eventTypes: ['A', 'B'], isDeferred: ({ type }) => type === 'A', after: await direct.head() })
  await happen(direct, ['A', 'A', 'B'])
  await eventually(() => typesOf(each) === 'AAB')
  t.equal(each.positions.length, 1)
  await happen(direct, ['A'])
  await eventually(() => typesOf(each) === 'AABA')
})

t.test('an event that cannot be opened fails those who take it, and no other', async (t) => {
  const broken: Streams = {
    ...direct,
    async * follow (options) {
      for await (const batch of direct.follow(options)) {
        if (batch.events.some(({ type }) => type === 'C')) throw new Error('cannot be opened')
        yield batch
      }
    }
  }
  const { counted, streams } = shared(broken)
  const after = await direct.head()
  const well = follower(t, streams, { eventTypes: ['A'], after })
  const bad = follower(t, streams, { eventTypes: ['A', 'C'], after })
  await happen(direct, ['A'])
  await eventually(() => typesOf(well) === 'A' && typesOf(bad) === 'A')
  await happen(direct, ['C'])
  await t.rejects(bad.ended, { message: 'cannot be opened' })
  await happen(direct, ['A'])
  await eventually(() => typesOf(well) === 'AA')
  await eventually(() => counted.open() === 1)
})

t.test('who takes other types, or does not say that it may share, has a subscription of its own', async (t) => {
  const { counted, streams } = shared()
  const after = await direct.head()
  follower(t, streams, { eventTypes: ['A'], after })
  follower(t, streams, { eventTypes: ['Other'], after })
  const alone = streams.follow({ after, eventTypes: ['A'], signal: AbortSignal.timeout(10_000) })
  const next = alone.next()
  await happen(direct, ['A'])
  t.match((await next).value, { events: [{ type: 'A' }] })
  await eventually(() => counted.open() === 3) // the other two open beside it
  await alone.return()
})
