// A sequence that an earlier release let follow an id near 2^53: markers and roles go on, and `ids reseed` mends it.
import t from 'tap'
import { openIds } from '../../src/command-handling/ids.js'
import { proposed } from '../../src/command-handling/proposed.js'
import { UnsoundEvent } from '../../src/domain/events.js'
import { reseedIds } from '../../src/recovery/id-sequences.js'
import { markedLogs } from '../support/back-ends/marked-log.js'
import { leadCreated, proposed as appended } from '../support/events/call-events.js'

const { log, database } = await markedLogs(t)

t.test('a sequence beyond the highest id is not told in markers, and goes back to what the log knows', async (t) => {
  const streams = await log(t)
  const { pool, write, state } = await database(t, streams)
  const lead = leadCreated(5_000, 1)
  await streams.append(lead.stream, [appended(lead)], -1n)
  await write()
  await pool.query("SELECT setval('ledger.lead_ids', $1::bigint)", [String(2n ** 53n + 200n)])
  t.equal(await write({ always: true }), true)
  t.match(await state(), { last: { data: { lead_ids: 0 } }, unreadable: undefined, maySend: true })
  const { ok, sequences } = await reseedIds(pool, streams, () => {})
  t.equal(ok, true)
  t.match(sequences, [{ name: 'assistant' }, { name: 'lead', in_log: 5_000 }])
  const [first = 0] = await openIds(pool, async () => true).take('lead')
  t.ok(first > 5_000 && first < 10_000, String(first))
})

t.test('what no reader could read is not appended', async (t) => {
  const { data } = leadCreated(1, 1)
  const sender = { commandId: '00000000-0000-4000-8000-000000000000', correlationId: 'c' }
  const event = (lead_id: number) => ({ type: 'LeadCreated' as const, data: { ...data, lead_id } as never })
  t.equal(proposed([event(1)], sender).length, 1)
  t.throws(() => proposed([event(2 ** 53)], sender), UnsoundEvent)
})
