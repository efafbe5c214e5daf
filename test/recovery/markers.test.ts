// Markers in the log: by them a database knows whether it was the last one there, and whether it has followed this log.
// Sequences set by hand, and streams that lack events, are found, with what mends them.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { projections } from '../../projections/index.js'
import { proposed } from '../../src/commands/handle.js'
import { openIds } from '../../src/commands/ids.js'
import { markerStream } from '../../src/domain/events.js'
import { AppendOutcomeUnknown } from '../../src/log/errors.js'
import { noStream, type Streams } from '../../src/log/event-log.js'
import { openLogGuard } from '../../src/recovery/log-guard.js'
import { explainBehind } from '../../src/recovery/markers.js'
import { type IdsState, checkIds, reseedIds } from '../../src/recovery/mend.js'
import { refuseOtherLog, findLimitedStreams } from '../../src/recovery/same-log.js'
import { campaign, leadCreated, proposed as appended } from '../support/events/call-events.js'
import { eventually } from '../support/eventually.js'
import { keepingLog } from '../support/postgres/ledger.js'
import { keptGuard } from '../support/workers/worker-site.js'
import { event } from '@ringledger/event-transfer/testing'
import { growPast, happen, markedLogs } from './marked-log.js'

const { client, log, otherLog, database } = await markedLogs(t)

t.test('a database beside a log without a marker may do everything', async (t) => {
  const { state, hold } = await database(log())
  t.match(await state(), { last: undefined, maySend: true, mayGiveIds: true })
  t.equal(explainBehind(await state()), undefined)
  await hold()
})

t.test('a marker says how far its database has come, and is written only when that has moved', async (t) => {
  const streams = log()
  const { write, state, moveTo, pool } = await database(streams)
  await openIds(pool, async () => true).take('lead', 201)
  t.equal(await write(), true)
  const { last, databaseId } = await state()
  const none = { assistant_ids: 0, campaign_ids: 0, phone_number_ids: 0, api_key_ids: 0, blacklist_ids: 0 }
  t.match(last?.data, { incarnation: databaseId, checkpoint: '0', ...none, lead_ids: 400, at: /^20.+Z$/ })
  await moveTo(last?.position ?? 0n)
  t.equal(await write(), false, 'that the dispatcher has passed the marker is nothing new')
  await moveTo((await happen(streams)).position)
  t.equal(await write(), true)
  await openIds(pool, async () => true).take('assistant')
  t.equal(await write(), true)
  t.match(await state(), { last: { revision: 2n, data: { assistant_ids: 20 } }, maySend: true, mayGiveIds: true })
})

t.test('a database is behind once another one has written a marker, and says who and what to run', async (t) => {
  const streams = log()
  const [ours, other] = [await database(streams), await database(streams, true)]
  await ours.write()
  t.match(await other.state(), { maySend: false, mayGiveIds: false })
  await t.rejects(other.write(), { name: 'BehindLog' })
  t.match(explainBehind(await other.state()), /another database wrote marker 0 .*no id is given out and no webhook is sent until you have run `ringledger ids reseed` and `ringledger webhooks resume`\.$/)
})

t.test('a database is also behind when a later state of it has written a marker', async (t) => {
  const streams = log()
  const { write, state, pool, moveTo } = await database(streams)
  await write()
  const { rows: backup } = await pool.query('SELECT * FROM ledger.markers')
  await moveTo((await happen(streams)).position)
  await write()
  await pool.query('TRUNCATE ledger.markers')
  for (const { id, revision, position } of backup) await pool.query('INSERT INTO ledger.markers VALUES ($1, $2, $3, true, true)', [id, revision, position])
  t.match(explainBehind(await state()), /a later state of this database wrote marker 1/)
})

t.test('a marker whose append was never acknowledged is ours all the same', async (t) => {
  const streams = log()
  const { write, state, moveTo, hold } = await database(streams)
  const losing: Streams = {
    ...streams,
    append: async (...given) => {
      await streams.append(...given)
      throw new AppendOutcomeUnknown('no answer')
    }
  }
  await t.rejects(write({ streams: losing }), AppendOutcomeUnknown)
  t.match(await state(), { last: { revision: 0n }, maySend: true, mayGiveIds: true })
  await hold()
  await moveTo((await happen(streams)).position)
  t.equal(await write(), true)
})

t.test('two processes that write at the same time both go on', async (t) => {
  const { write, state } = await database(log())
  const written = await Promise.allSettled([write(), write(), write()])
  t.ok(written.some(({ status }) => status === 'fulfilled'))
  t.match(await state(), { maySend: true, mayGiveIds: true })
})

t.test('a checkpoint or a sequence that is lower than in the marker is behind it', async (t) => {
  const streams = log()
  const { write, state, moveTo, pool } = await database(streams)
  const { position } = await happen(streams)
  await moveTo(position)
  await openIds(pool, async () => true).take('assistant')
  await write()
  await moveTo(position - 1n)
  t.match(await state(), { maySend: false, mayGiveIds: true })
  await moveTo(position)
  await pool.query('ALTER SEQUENCE ledger.assistant_ids RESTART')
  t.match(await state(), { maySend: true, mayGiveIds: false })
  t.match(explainBehind(await state()), /so that nothing happens twice, no id is given out until you have run `ringledger ids reseed`\.$/i)
})

t.test('a database whose ids are behind writes markers that still know of them', async (t) => {
  const streams = log()
  const { write, state, moveTo, pool } = await database(streams)
  await openIds(pool, async () => true).take('lead')
  await write()
  await pool.query('ALTER SEQUENCE ledger.lead_ids RESTART')
  await moveTo((await happen(streams)).position)
  await write()
  t.match(await state(), { last: { revision: 1n, data: { lead_ids: 200 } }, maySend: true, mayGiveIds: false })
})

t.test('a log in which the newest known marker is missing, another one, or elsewhere is refused', async (t) => {
  const streams = log()
  const { write, hold } = await database(streams)
  await write()
  await hold()
  const [marker] = await streams.read(markerStream)
  if (!marker) throw new Error('unreachable')
  const [empty, foreign, moved] = [log(), log(), log()]
  await t.rejects(hold(empty), { name: 'OtherLog', message: /lacks marker 0/ })
  await (await database(foreign, true)).write()
  await t.rejects(hold(foreign), { name: 'OtherLog', message: /lacks marker 0/ })
  await happen(moved)
  await moved.append(markerStream, [{ ...marker, data: { ...marker.data as object } }], noStream)
  await t.rejects(hold(moved), { name: 'OtherLog', message: /was moved to another event store.*`ringledger events adopt`/ })
})

t.test('an event that is no marker of this release is passed over and told once, and a fresh marker comes after it', async (t) => {
  const streams = log()
  const { pool, write, state, moveTo, hold } = await database(streams)
  await write()
  const append = (type: string, data: object, metadata: Record<string, string>, expected: bigint) =>
    streams.append(markerStream, [{ id: randomUUID(), type, data, metadata }], expected)
  await append('DispatcherCheckpointed', { checkpoint: -1 }, {}, 0n)
  await append('DispatcherCheckpointed', {}, { schema_version: '2' }, 1n)
  const { lines, ...logger } = keepingLog()
  const guard = openLogGuard({ pool, streams, log: logger })
  t.match(await guard.check(), { last: { revision: 0n }, streamRevision: 2n, maySend: true, mayGiveIds: true })
  await guard.check()
  t.match(lines.map(({ message }) => message), [/^the newest marker cannot be read.*`ringledger events mark`$/])
  await hold()
  const other = await database(streams, true)
  t.match(await other.state(), { maySend: false, mayGiveIds: false }, 'a database behind the last readable one is still behind')
  await openIds(pool, async () => true, guard.assertMayGiveIds).take('lead')
  await moveTo((await happen(streams)).position)
  t.equal(await write(), true)
  t.match(await state(), { last: { revision: 3n }, unreadable: undefined, maySend: true })
})

t.test('no marker tells of a checkpoint that is ahead of the log', async (t) => {
  const streams = log()
  const { write, moveTo, state } = await database(streams)
  const { position } = await happen(streams)
  await moveTo(position + 1_000n)
  await t.rejects(write(), { name: 'OtherLog', message: /the dispatcher has read it up to/ })
  t.equal((await state()).last, undefined)
})

t.test('the guard looks again and again, tells once, and tells when it is over', async (t) => {
  const streams = log()
  const { pool, moveTo } = await database(streams)
  const { lines, ...logger } = keepingLog()
  const guard = keptGuard(t, { pool, streams, log: logger, everyMs: 20, behindEveryMs: 20 })
  await moveTo(10n ** 6n)
  await eventually(() => guard.problem() !== undefined)
  await t.rejects(guard.assert(), { name: 'OtherLog' })
  await moveTo(0n)
  await eventually(() => guard.problem() === undefined)
  t.match(lines.map(({ message }) => message), [/`ringledger events adopt`/, /is the one that this database has followed/])
})

t.test('a log that went back is refused however far it has grown since, without any marker', async (t) => {
  const [streams, grown] = [log(), otherLog()]
  const { take, hold } = await database(streams)
  const taken = await happen(streams)
  await take(taken)
  await hold()
  await growPast(grown, taken.position)
  await t.rejects(hold(grown), {
    name: 'OtherLog', message: /lacks the event that was read at position \d+: it is older.*`ringledger events adopt`/
  })
})

t.test('a read model that is further than the dispatcher is compared as well', async (t) => {
  const [streams, grown] = [log(), otherLog()]
  const { pool } = await database(streams)
  await growPast(streams, await grown.head())
  const { id, position } = await happen(streams)
  const readModel = { name: 'leads', position, taken: { id, position } }
  await refuseOtherLog(pool, streams, [readModel])
  await t.rejects(refuseOtherLog(pool, grown, [readModel]), { name: 'OtherLog', message: /the projection leads has read it/ })
  await growPast(grown, position)
  await t.rejects(refuseOtherLog(pool, grown, [readModel]), { name: 'OtherLog', message: /lacks the event/ })
})

t.test('a scavenge may take the last event that was read: then the log is the same', async () => {
  const streams = log()
  const { take, hold } = await database(streams)
  const { id, position } = await happen(streams)
  await take({ id, position })
  await client.deleteStream(`test-${id}`)
  await happen(streams)
  await streams.scavenge()
  await hold()
})

t.test('a marker that metadata hide is not said to be missing: what hides it is named, and nothing else mends it', async (t) => {
  const streams = log()
  const { write, hold } = await database(streams)
  await write()
  await client.setStreamMetadata(streams.nameOf('ringledger-marker'), { truncateBefore: 10 })
  const refused = await hold().then(() => undefined, (error: Error) => error)
  t.match(refused, { name: 'OtherLog', message: /ringledger-marker has \$tb.*write metadata without \$tb/ })
  t.notMatch(refused?.message, /adopt/)
  await client.setStreamMetadata(streams.nameOf('ringledger-marker'), {})
  await hold()
})

t.test('limits and deletes of the streams of every log are found, and what mends each is said', async (t) => {
  const streams = log()
  const [marker, settings] = ['ringledger-marker', 'ringledger-settings'].map(streams.nameOf) as [string, string]
  for (const stream of [marker, settings]) await client.appendToStream(stream, [event(), event()])
  t.strictSame(await findLimitedStreams(streams), [], 'whole streams')
  await client.setStreamMetadata(marker, { maxCount: 1 })
  await client.deleteStream(settings)
  const found = await findLimitedStreams(streams)
  t.strictSame(found.map(({ stream, limit }) => [stream, limit]), [
    ['ringledger-marker', '$maxCount'], ['ringledger-settings', 'deleted']
  ])
  t.match(found[0]?.problem, /ringledger-marker has \$maxCount.*: write metadata without \$maxCount to \$\$ringledger-marker\.$/)
  t.match(found[1]?.problem, /ringledger-settings was deleted.*: write metadata without \$tb to \$\$ringledger-settings, twice, /)

  for (const stream of [marker, settings, settings]) await client.setStreamMetadata(stream, { owner: 'me' })
  t.strictSame(await findLimitedStreams(streams), [], 'what it says mends it')
  t.equal((await streams.read('ringledger-settings')).length, 2)
})

t.test('campaigns, phone numbers and do-not-call entries of the log are told, and passed by what is given out next', async (t) => {
  const streams = log()
  const { pool } = await database(streams)
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

t.test('an event that no reader could read is not appended', async (t) => {
  const { data } = leadCreated(1, 1)
  const sender = { commandId: '00000000-0000-4000-8000-000000000000', correlationId: 'c' }
  const event = (lead_id: number) => ({ type: 'LeadCreated' as const, data: { ...data, lead_id } as never })
  t.equal(proposed([event(1)], sender).length, 1)
  t.throws(() => proposed([event(2 ** 53)], sender), { name: 'UnsoundEvent' })
})
