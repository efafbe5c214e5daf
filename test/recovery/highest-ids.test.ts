// A sequence that was set by hand beyond the highest id: markers and roles go on, and `ids reseed` mends it.
import t from 'tap'
import { openIds } from '../../src/commands/ids.js'
import { proposed } from '../../src/commands/handle.js'
import { type IdsState, checkIds, reseedIds } from '../../src/recovery/mend.js'
import { projections } from '../../projections/index.js'
import { markedLogs } from './marked-log.js'
import { campaign, leadCreated, proposed as appended } from '../support/events/call-events.js'

const { log, database } = await markedLogs(t)

t.test('a sequence beyond the highest id is not told in markers, and goes back to what the log knows', async (t) => {
  const streams = await log(t)
  const { pool, write, state } = await database(t, streams)
  const lead = leadCreated(5_000, 1)
  await streams.append(lead.stream, [appended(lead)], -1n)
  await write()
  await pool.query("SELECT setval('ledger.lead_ids', $1::bigint)", [String(2n ** 53n + 200n)])
  t.equal(await write({ always: true }), true)
  t.match(await state(), { last: { ids: { lead: 0 } }, unreadable: undefined, maySend: true })
  const { ok, sequences } = await reseedIds(pool, streams, projections)
  t.equal(ok, true)
  t.match(sequences, [{ name: 'assistant' }, { name: 'lead', in_log: 5_000 }])
  const [first = 0] = await openIds(pool, async () => true).take('lead')
  t.ok(first > 5_000 && first < 10_000, String(first))
})

t.test('campaigns, phone numbers and do-not-call entries of the log are told, and passed by what is given out next', async (t) => {
  const streams = await log(t)
  const { pool } = await database(t, streams)
  const number = { phone_number_id: 70, user_id: '1', phone_number: '+15551230001' }
  const entry = {
    blacklist_id: 90, user_id: '1', phone_number: '+15551230001', reason: null, created_at: '2026-01-31T12:00:00.000Z'
  }
  const events = [
    campaign('CampaignCreated', 50, 'Spring'), campaign('CampaignCreated', Number.MAX_SAFE_INTEGER, 'Far'),
    { stream: 'phonenumber-70', type: 'PhoneNumberAdded', data: number },
    { stream: 'blacklist-a-b', type: 'PhoneNumberBlacklisted', data: entry }
  ]
  for (const each of events) await streams.append(each.stream, [appended(each)], -1n)
  const known = [{ name: 'campaign', in_log: 50 }, { name: 'phone_number', in_log: 70 }, { name: 'blacklist', in_log: 90 }]
  const told = ({ sequences }: IdsState) => sequences.filter(({ name }) => known.some((each) => each.name === name))
  const before = await checkIds(pool, streams, projections)
  t.match([before.ok, told(before)], [false, known])
  const after = await reseedIds(pool, streams, projections)
  t.match([after.ok, told(after)], [true, known])
  const ids = openIds(pool, async () => true)
  t.same([await ids.take('campaign'), await ids.take('phone_number'), await ids.take('blacklist')], [[70], [90], [110]])
})

t.test('what no reader could read is not appended', async (t) => {
  const { data } = leadCreated(1, 1)
  const sender = { commandId: '00000000-0000-4000-8000-000000000000', correlationId: 'c' }
  const event = (lead_id: number) => ({ type: 'LeadCreated' as const, data: { ...data, lead_id } as never })
  t.equal(proposed([event(1)], sender).length, 1)
  t.throws(() => proposed([event(2 ** 53)], sender), { name: 'UnsoundEvent' })
})
