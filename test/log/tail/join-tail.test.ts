// Who joins the shared subscription late, is further on, or falls behind it, gets every event once.
import t from 'tap'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { eventually } from '../../support/eventually.js'
import { follower, happen, sharing, types, typesOf } from './followers.js'

const { connection } = await scratchEventStore(t)
const direct = new EventLog(connection)

const shared = (through: Streams = direct, maxBytes?: number) => sharing(through, maxBytes)

t.test('who is behind, or begins anew, catches up by itself and joins the others', async (t) => {
  const { counted, streams } = shared()
  const start = await direct.head()
  for (let n = 0; n < 20; n++) await happen(direct, types)
  const first = follower(t, streams, { eventTypes: ['A'], after: await direct.head() })
  await happen(direct, ['A'])
  await eventually(() => typesOf(first) === 'A')
  const late = follower(t, streams, { eventTypes: ['B'], after: start })
  await eventually(() => late.events.length === 20)
  await happen(direct, ['B'])
  await eventually(() => late.events.length === 21 && counted.open() === 1)
  t.equal(counted.opened(), 2)
})

t.test('who joins further on than the shared subscription has come gets nothing that it had', async (t) => {
  let open = () => {}
  const gate = new Promise<void>((resolve) => { open = resolve })
  const { counted, streams } = shared({
    ...direct,
    async * follow (options) {
      for await (const batch of direct.follow(options)) {
        await gate
        yield batch
      }
    }
  })
  const ahead = follower(t, streams, { eventTypes: ['A'], after: await direct.head() })
  await eventually(() => counted.open() === 1)
  const had = await happen(direct, ['A', 'A'])
  const joined = follower(t, streams, { eventTypes: ['A', 'B'], after: had })
  const last = await happen(direct, ['B'])
  open()
  await eventually(() => ahead.events.length === 2 && joined.reached() >= last)
  t.equal(typesOf(joined), 'B')
  t.equal(counted.opened(), 1)
})

t.test('who works slowly holds up nobody, gets all of it, and joins again', async (t) => {
  const { counted, streams } = shared(direct, 20_000)
  const after = await direct.head()
  let go = () => {}
  const parked = new Promise<void>((resolve) => { go = resolve })
  const slow = follower(t, streams, { eventTypes: ['A'], after, work: () => parked })
  const quick = follower(t, streams, { eventTypes: ['A'], after })
  for (let n = 1; n <= 100; n++) {
    await happen(direct, ['A'], { n, text: 'x'.repeat(1_000) })
    await eventually(() => quick.events.length === n)
  }
  t.equal(slow.events.length, 1)
  t.equal(counted.opened(), 1, 'nothing is read for it meanwhile')
  go()
  await eventually(() => slow.events.length === 100)
  t.strictSame(slow.events.map(({ position }) => position), quick.events.map(({ position }) => position))
  await happen(direct, ['A'])
  await eventually(() => slow.events.length === 101 && counted.open() === 1)
})
