// The log that the bench of replays makes up is one that the service could have written.
import { jsonEvent } from '@eventstore/db-client'
import t from 'tap'
import { fill } from '../../bench/log/fill.js'
import { history } from '../../bench/log/history.js'
import { decode } from '../../src/domain/events.js'
import { EventLog } from '../../src/log/event-log.js'
import { connect, connectionTo, eventStoreOn } from '../support/back-ends/scratch-event-store.js'
import { scratchPostgres } from '../support/back-ends/scratch-postgres.js'

const count = 3_000
const made = [...history({ events: count, seed: 7 })]

t.test('the same seed makes the same log, another one another', async (t) => {
  t.equal(made.length, count)
  t.strictSame([...history({ events: count, seed: 7 })], made)
  t.not([...history({ events: count, seed: 8 })].at(-1)?.id, made.at(-1)?.id)
  t.equal(new Set(made.map(({ id }) => id)).size, count, 'and no event id comes twice')
})

t.test('every event is what a reader decodes, at the next revision of its stream', async (t) => {
  const revisions = new Map<string, number>()
  const read = made.map(({ stream, revision, type, data, metadata }) =>
    decode({ stream, revision: BigInt(revision), type, data: JSON.parse(JSON.stringify(data)), metadata }))
  t.same(read, made.map(({ type, data }) => ({ type, data })))
  const outOfOrder = made.filter(({ stream, revision }) => {
    const expected = revisions.get(stream) ?? 0
    revisions.set(stream, expected + 1)
    return revision !== expected
  })
  t.strictSame(outOfOrder, [])
  t.ok(
    made.some(({ type, revision }) => type === 'CallCompleted' && revision > 0), 'a call reported twice is among them'
  )
})

t.test('an event store on the filled table serves it and goes on after it', async (t) => {
  const postgres = await scratchPostgres(t)
  const { events } = await fill(postgres.url, made)
  t.equal(events, count)
  const store = await eventStoreOn(postgres.url)
  t.teardown(() => store.close())
  const client = connect(t, store.url)
  let seen = 0
  for await (const { event } of client.readAll()) {
    if (event?.type.startsWith('$')) continue
    if (event?.id !== made[seen]?.id || event?.streamId !== made[seen]?.stream) t.fail(`event ${seen} is another one`)
    seen++
  }
  t.equal(seen, count)
  const streams = new EventLog(connectionTo(t, store.url))
  t.equal(await streams.head(), BigInt(count + 1))
  const renamed = made.findLast(({ type }) => type === 'CampaignRenamed')
  await client.appendToStream(renamed?.stream ?? '', jsonEvent({ type: 'CampaignRenamed', data: {} }), {
    expectedRevision: BigInt(renamed?.revision ?? 0)
  })
  t.equal(await streams.head(), BigInt(count + 2))
})
