// The identity counts an erased call once, whether or not a scavenge has taken its report.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { jsonEvent } from '@eventstore/db-client'
import { noStream, EventLog } from '../../../src/log/event-log.js'
import { audit, continueAudit, lastUnaccounted } from '../../../workers/operate/audit.js'
import { callCompleted, proposed } from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

const { postgres, client, connection } = await scratchEventStore(t)
const streams = new EventLog(connection)
const { pool } = await scratchLedger(t, postgres)
const { signal } = new AbortController()
const options = { pool, streams, signal }
const countAnew = () => pool.query('UPDATE ledger.identity_count SET position = 0, calls = 0')

/** Its row is in the delivery log, as the dispatcher writes it. */
async function reported (reports = 1): Promise<string> {
  const call = randomUUID()
  const { stream } = callCompleted(call)
  for (let n = 0; n < reports; n++) {
    await streams.append(stream, [proposed(callCompleted(call, { duration: n }))], n === 0 ? noStream : BigInt(n - 1))
  }
  await pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, position, last_position, status)
    VALUES (gen_random_uuid(), $1, 'call.completed', 1, 1, 'skipped')`, [call])
  await dispatched()
  return stream
}

async function erased (stream: string): Promise<void> {
  const revision = (await streams.last(stream))?.revision ?? noStream
  await client.appendToStream(stream, jsonEvent({ type: 'CallErased', data: {} }), { expectedRevision: revision })
  await client.setStreamMetadata(stream, { truncateBefore: Number(revision) + 1 })
  await dispatched()
}

/** The dispatcher has passed all that is in the log. */
async function dispatched (): Promise<void> {
  await pool.query('UPDATE ledger.dispatcher_checkpoint SET position = $1', [await streams.head()])
}

async function scavenged (): Promise<void> {
  await streams.scavenge()
  await dispatched()
}

/** Every way to count says so. */
async function agree (t: Pick<Test, 'same'>, calls: number, when: string) {
  const wanted = { calls, rows: calls, unaccounted: 0 }
  t.same(await continueAudit(options), wanted, `${when}, going on`)
  t.same(await audit(options), wanted, `${when}, all at once`)
  await countAnew()
  t.same(await continueAudit(options), wanted, `${when}, from the beginning`)
}

t.test('erased after it was counted, and after each scavenge', async (t) => {
  const streams = [await reported(), await reported(2), await reported()]
  await agree(t, 3, 'reported')
  for (const stream of streams.slice(0, 2)) await erased(stream)
  await agree(t, 3, 'erased')
  await scavenged()
  await agree(t, 3, 'scavenged')
  await erased(streams[0] ?? '')
  await agree(t, 3, 'erased again')
  await reported()
  await scavenged()
  await agree(t, 4, 'with one reported later')
})

t.test('erased and scavenged before its report was counted: nothing wrong is told meanwhile', async (t) => {
  await pool.query('UPDATE ledger.identity_count SET unaccounted = 0')
  const stream = await reported()
  await erased(stream)
  await scavenged()
  t.equal(await continueAudit(options), undefined, 'a difference that this may have made')
  t.equal(await lastUnaccounted(pool), 0)
  t.same(await continueAudit(options), { calls: 5, rows: 5, unaccounted: 0 })
  await agree(t, 5, 'afterwards')
})

t.test('a row that vanished is told all the same', async (t) => {
  const stream = await reported()
  await erased(stream)
  await pool.query('DELETE FROM ledger.webhook_deliveries WHERE call_id = $1', [stream.slice('call-'.length)])
  t.equal(await continueAudit(options), undefined, 'once it is counted anew')
  t.match(await continueAudit(options), { unaccounted: 1 })
  t.match(await audit(options), { unaccounted: 1 })
})
