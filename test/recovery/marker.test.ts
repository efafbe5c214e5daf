// Markers in the log: by them a database knows whether it is the one that was there last.
import t from 'tap'
import { explainBehind, findLastMarker } from '../../src/recovery/markers.js'
import { markerStream } from '../../src/domain/events.js'
import { AppendOutcomeUnknown } from '../../src/log/errors.js'
import { noStream, type Streams } from '../../src/log/event-log.js'
import { openIds } from '../../src/commands/ids.js'
import { happen, markedLogs } from './marked-log.js'
import { randomUUID } from 'node:crypto'
import { openLogGuard } from '../../src/recovery/log-guard.js'
import { keepingLog } from '../support/postgres/ledger.js'

const { log, database } = await markedLogs(t)

t.test('a database beside a log without a marker may do everything', async (t) => {
  const { state, hold } = await database(t, await log(t))
  t.match(await state(), { last: undefined, maySend: true, mayGiveIds: true })
  t.equal(explainBehind(await state()), undefined)
  await hold()
})

t.test('a marker says how far its database has come, and is written only when that has moved', async (t) => {
  const streams = await log(t)
  const { write, state, moveTo, pool } = await database(t, streams)
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
  const streams = await log(t)
  const [ours, other] = [await database(t, streams), await database(t, streams)]
  await ours.write()
  t.match(await other.state(), { maySend: false, mayGiveIds: false })
  await t.rejects(other.write(), { name: 'BehindLog' })
  t.match(explainBehind(await other.state()), /another database wrote marker 0 .*no id is given out and no webhook is sent until you have run `ringledger ids reseed` and `ringledger webhooks resume`\.$/)
})

t.test('so is an older state of the same database', async (t) => {
  const streams = await log(t)
  const { write, state, pool, moveTo } = await database(t, streams)
  await write()
  const { rows: backup } = await pool.query('SELECT * FROM ledger.markers')
  await moveTo((await happen(streams)).position)
  await write()
  await pool.query('TRUNCATE ledger.markers')
  for (const { id, revision, position } of backup) await pool.query('INSERT INTO ledger.markers VALUES ($1, $2, $3, true, true)', [id, revision, position])
  t.match(explainBehind(await state()), /a later state of this database wrote marker 1/)
})

t.test('a marker whose append was never acknowledged is ours all the same', async (t) => {
  const streams = await log(t)
  const { write, state, moveTo, hold } = await database(t, streams)
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

t.test('of two processes that write at the same time both go on', async (t) => {
  const { write, state } = await database(t, await log(t))
  const written = await Promise.allSettled([write(), write(), write()])
  t.ok(written.some(({ status }) => status === 'fulfilled'))
  t.match(await state(), { maySend: true, mayGiveIds: true })
})

t.test('a checkpoint or a sequence that is lower than in the marker is behind it', async (t) => {
  const streams = await log(t)
  const { write, state, moveTo, pool } = await database(t, streams)
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
  const streams = await log(t)
  const { write, state, moveTo, pool } = await database(t, streams)
  await openIds(pool, async () => true).take('lead')
  await write()
  await pool.query('ALTER SEQUENCE ledger.lead_ids RESTART')
  await moveTo((await happen(streams)).position)
  await write()
  t.match(await state(), { last: { revision: 1n, data: { lead_ids: 200 } }, maySend: true, mayGiveIds: false })
})

t.test('a log in which the newest known marker is missing, another one, or elsewhere is refused', async (t) => {
  const streams = await log(t)
  const { write, hold } = await database(t, streams)
  await write()
  await hold()
  const [marker] = await streams.read(markerStream)
  if (!marker) throw new Error('unreachable')
  const [empty, foreign, moved] = [await log(t), await log(t), await log(t)]
  await t.rejects(hold(empty), { name: 'OtherLog', message: /lacks marker 0/ })
  await (await database(t, foreign)).write()
  await t.rejects(hold(foreign), { name: 'OtherLog', message: /lacks marker 0/ })
  await happen(moved)
  await moved.append(markerStream, [{ ...marker, data: { ...marker.data as object } }], noStream)
  await t.rejects(hold(moved), { name: 'OtherLog', message: /was moved to another event store.*`ringledger events adopt`/ })
})

async function append (streams: Streams, type: string, data: object, metadata = {}): Promise<void> {
  const { streamRevision } = await findLastMarker(streams)
  await streams.append(markerStream, [{ id: randomUUID(), type, data, metadata }], streamRevision)
}

const unreadable: [what: string, type: string, data: object, metadata?: object][] = [
  ['of a later release', 'DispatcherCheckpointed', {}, { schema_version: '2' }],
  ['of another type', 'Happened', {}],
  ['of a type that belongs elsewhere', 'ModelAdded', { name: 'x' }],
  ['malformed', 'DispatcherCheckpointed', { checkpoint: -1 }]
]

for (const [what, ...event] of unreadable) {
  t.test(`an event ${what} is passed over and told once, and a fresh marker comes after it`, async (t) => {
    const streams = await log(t)
    const { pool, write, state, moveTo, hold } = await database(t, streams)
    await write()
    await append(streams, ...event)
    const { lines, ...logger } = keepingLog()
    const guard = openLogGuard({ pool, streams, log: logger })
    t.match(await guard.check(), { last: { revision: 0n }, streamRevision: 1n, maySend: true, mayGiveIds: true })
    await guard.check()
    t.match(lines.map(({ message }) => message), [/^the newest marker cannot be read.*`ringledger events mark`$/])
    await hold()
    await openIds(pool, async () => true, guard.assertMayGiveIds).take('lead')
    await moveTo((await happen(streams)).position)
    t.equal(await write(), true)
    t.match(await state(), { last: { revision: 2n }, unreadable: undefined, maySend: true })
  })
}

t.test('however many there are, a database behind the last readable marker is still behind', async (t) => {
  const streams = await log(t)
  const [ours, other] = [await database(t, streams), await database(t, streams)]
  await ours.write()
  for (let count = 0; count < 45; count++) await append(streams, 'Happened', { count })
  t.match(await ours.state(), { last: { revision: 0n }, streamRevision: 45n, maySend: true })
  t.match(await other.state(), { maySend: false, mayGiveIds: false })
})

t.test('a stream without any readable marker is like a log without markers', async (t) => {
  const streams = await log(t)
  const { write, state } = await database(t, streams)
  await append(streams, 'Happened', {})
  t.match(await state(), { last: undefined, streamRevision: 0n, maySend: true })
  t.equal(await write(), true)
  t.match(await state(), { last: { revision: 1n } })
})
