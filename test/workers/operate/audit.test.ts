// The identity: every call in the log has exactly one row in the ledger.
import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import { noStream, EventLog, type Streams } from '../../../src/log/event-log.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { audit, continueAudit, lastUnaccounted } from '../../../workers/operate/audit.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { assistantCreated, callCompleted, proposed, type Told } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

const { pool, postgres } = await scratchLedger(t)
const { client, connection } = await scratchEventStore(t, { postgres })
const streams = new EventLog(connection)
const { signal } = new AbortController()
const tell = (told: Told, expected = noStream) => streams.append(told.stream, [proposed(told)], expected)

/** Lets the dispatcher pass everything that is in the log. */
async function dispatchAll (): Promise<void> {
  const stopping = new AbortController()
  const consumer = dispatcher({ pool, firstDelayMs: 3_600_000, wake () {}, log: keepingLog() })
  const running = runSubscription(consumer, {
    streams, pool, holder: randomUUID(), signal: stopping.signal, log: keepingLog()
  })
  const head = await streams.head()
  await eventually(async () =>
    BigInt((await pool.query('SELECT position FROM ledger.dispatcher_checkpoint')).rows[0].position) >= head)
  stopping.abort()
  await running
}

const on = { pool, streams, signal }
const count = () => continueAudit(on)

t.test('each call counts once: repeated, malformed, skipped, of no assistant, in a stream of others', async (t) => {
  await tell(assistantCreated(1, { is_webhook_active: true, webhook_url: 'https://hooks.example.com' }))
  for (const call of ['a', 'b']) await tell(callCompleted(call))
  await tell(callCompleted('a', { duration: 1 }), 0n)
  await tell({ ...callCompleted('malformed'), data: {} })
  await tell(callCompleted('nobodys', { assistant_id: 9 }))
  await tell({ stream: 'call-odd', type: 'Other', data: {} })
  await tell(callCompleted('odd'), 0n)
  await tell(callCompleted('odd'), 1n)
  await tell({ ...callCompleted('x'), stream: 'elsewhere' })
  await tell({ ...callCompleted('x'), stream: 'call-no/id' })
  await dispatchAll()
  t.same(await audit(on), { calls: 5, rows: 5, unaccounted: 0 })
  t.same(await count(), { calls: 5, rows: 5, unaccounted: 0 })
})

t.test('a count that was broken off goes on where it ended, and says nothing before', async (t) => {
  await pool.query('UPDATE ledger.identity_count SET position = 0, calls = 0, unaccounted = NULL')
  let parts = 0
  const slow: Streams = {
    ...streams,
    async * followStored (options) {
      for await (const { events, ...batch } of streams.followStored(options)) {
        for (const event of events) yield { ...batch, events: [event], position: event.position }
        yield { ...batch, events: [] }
      }
    }
  }
  while (await continueAudit({ ...on, streams: slow }, -1) === undefined) {
    t.equal(await lastUnaccounted(pool), undefined)
    parts += 1
  }
  t.ok(parts > 3, `${parts} parts`)
  t.equal(await lastUnaccounted(pool), 0)
  t.same(await count(), { calls: 5, rows: 5, unaccounted: 0 })
})

t.test('a call that the dispatcher has not reached is not missed', async (t) => {
  await tell(callCompleted('later'))
  t.same(await count(), { calls: 5, rows: 5, unaccounted: 0 })
  await dispatchAll()
  t.same(await count(), { calls: 6, rows: 6, unaccounted: 0 })
})

/** An erased call counts once, whether or not a scavenge has taken its report. */
async function reported (reports = 1): Promise<string> {
  const call = randomUUID()
  for (let n = 0; n < reports; n++) await tell(callCompleted(call, { duration: n }), n === 0 ? noStream : BigInt(n - 1))
  await dispatchAll()
  return callCompleted(call).stream
}

async function erased (stream: string, type = 'CallErased'): Promise<void> {
  const revision = (await streams.last(stream))?.revision ?? noStream
  await client.appendToStream(stream, jsonEvent({ type, data: {} }), { expectedRevision: revision })
  await client.setStreamMetadata(stream, { truncateBefore: Number(revision) + 1 })
  await dispatchAll()
}

async function scavenged (): Promise<void> {
  await streams.scavenge()
  await dispatchAll()
}

/** Every way to count says so. */
async function agree (t: Pick<Test, 'same'>, calls: number, when: string) {
  const wanted = { calls, rows: calls, unaccounted: 0 }
  t.same(await count(), wanted, `${when}, going on`)
  t.same(await audit(on), wanted, `${when}, all at once`)
  await pool.query('UPDATE ledger.identity_count SET position = 0, calls = 0')
  t.same(await count(), wanted, `${when}, from the beginning`)
}

t.test('erased after it was counted, and after each scavenge', async (t) => {
  const called = [await reported(), await reported(2), await reported()]
  await agree(t, 9, 'reported')
  for (const stream of called.slice(0, 2)) await erased(stream)
  await erased(called[2] ?? '', 'StreamErased') // nobody could read its report
  await agree(t, 9, 'erased')
  await scavenged()
  await agree(t, 9, 'scavenged')
  await erased(called[0] ?? '')
  await agree(t, 9, 'erased again')
  await reported()
  await scavenged()
  await agree(t, 10, 'with one reported later')
})

t.test('erased and scavenged before its report was counted: nothing wrong is told meanwhile', async (t) => {
  await pool.query('UPDATE ledger.identity_count SET unaccounted = 0')
  const stream = await reported()
  await erased(stream)
  await scavenged()
  t.equal(await count(), undefined, 'a difference that this may have made')
  t.equal(await lastUnaccounted(pool), 0)
  t.same(await count(), { calls: 11, rows: 11, unaccounted: 0 })
  await agree(t, 11, 'afterwards')
})

t.test('a row that vanished is told, also of an erased call, and rows that nobody called for; a test is neither', async (t) => {
  const stream = await reported()
  await erased(stream)
  await pool.query('DELETE FROM ledger.webhook_deliveries WHERE call_id = $1', [stream.slice('call-'.length)])
  t.equal(await count(), undefined, 'once it is counted anew')
  t.match(await count(), { unaccounted: 1 })
  t.match(await audit(on), { unaccounted: 1 })
  await pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, type, user_id, assistant_id, status)
    VALUES (gen_random_uuid(), 'webhook.test', '1', 1, 'exhausted')`)
  t.match(await count(), { unaccounted: 1 })
  await pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, position, last_position, status)
    SELECT gen_random_uuid(), 'made-up-' || i, 'call.completed', 1, 1, 'skipped' FROM generate_series(1, 2) i`)
  t.match(await count(), { unaccounted: -1 })
})
