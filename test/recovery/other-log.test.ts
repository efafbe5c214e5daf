// A log that has gone back is told from the one that this database has followed, and gets no marker. What takes events
// away from the streams that every process needs is told, with what mends it.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { refuseOtherLog, findLimitedStreams } from '../../src/recovery/same-log.js'
import { keepingLog } from '../support/postgres/ledger.js'
import { EventLog } from '../../src/log/event-log.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { happen, markedLogs } from './marked-log.js'
import { eventually } from '../support/eventually.js'
import { keptGuard } from '../support/workers/worker-site.js'
import { event } from '@ringledger/event-transfer/testing'

const { log, database } = await markedLogs(t)

t.test('no marker tells of a checkpoint that is ahead of the log', async (t) => {
  const streams = await log(t)
  const { write, moveTo, state } = await database(t, streams)
  const { position } = await happen(streams)
  await moveTo(position + 1_000n)
  await t.rejects(write(), { name: 'OtherLog', message: /the dispatcher has read it up to/ })
  t.equal((await state()).last, undefined)
})

t.test('two known markers of one revision are those of two logs', async (t) => {
  const streams = await log(t)
  const { write, hold, pool } = await database(t, streams)
  await write()
  await hold()
  await pool.query('INSERT INTO ledger.markers (id, revision, position) SELECT $1, revision, position FROM ledger.markers',
    [randomUUID()])
  await t.rejects(hold(), { name: 'OtherLog', message: /lacks marker 0, which this database knows.*`ringledger events adopt`/ })
})

t.test('the guard looks again and again, tells once, and tells when it is over', async (t) => {
  const streams = await log(t)
  const { pool, moveTo } = await database(t, streams)
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
  const [streams, grown] = [await log(t), await log(t)]
  const { take, hold } = await database(t, streams)
  await happen(streams)
  await take(await happen(streams))
  await hold()
  for (let n = 0; n < 10; n++) await happen(grown)
  await t.rejects(hold(grown), {
    name: 'OtherLog', message: /lacks the event that was read at position \d+: it is older.*`ringledger events adopt`/
  })
})

t.test('a read model that is further than the dispatcher is compared as well', async (t) => {
  const [streams, grown] = [await log(t), await log(t)]
  const { pool } = await database(t, streams)
  const { id, position } = await happen(streams)
  const readModel = { name: 'leads', position, taken: { id, position } }
  await refuseOtherLog(pool, streams, [readModel])
  await t.rejects(refuseOtherLog(pool, grown, [readModel]), { name: 'OtherLog', message: /the projection leads has read it/ })
  for (let n = 0; n < 10; n++) await happen(grown)
  await t.rejects(refuseOtherLog(pool, grown, [readModel]), { name: 'OtherLog', message: /lacks the event/ })
})

t.test('a scavenge may take the last event that was read: then the log is the same', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  const streams = new EventLog(connection)
  const { take, hold } = await database(t, streams)
  const { id, position } = await happen(streams)
  await take({ id, position })
  await client.deleteStream(`test-${id}`)
  await happen(streams)
  await streams.scavenge()
  await hold()
})

t.test('a marker that metadata hide is not said to be missing: what hides it is named, and nothing else mends it', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  const streams = new EventLog(connection)
  const { write, hold } = await database(t, streams)
  await write()
  await client.setStreamMetadata('ringledger-marker', { truncateBefore: 10 })
  const refused = await hold().then(() => undefined, (error: Error) => error)
  t.match(refused, { name: 'OtherLog', message: /ringledger-marker has \$tb.*write metadata without \$tb/ })
  t.notMatch(refused?.message, /adopt/)
  await client.setStreamMetadata('ringledger-marker', {})
  await hold()
})

t.test('limits and deletes of the streams of every log are found, and what mends each is said', async (t) => {
  const { client, connection } = await scratchEventStore(t)
  const streams = new EventLog(connection)
  t.strictSame(await findLimitedStreams(streams), [], 'an empty log')
  for (const stream of ['ringledger-marker', 'ringledger-settings', 'catalog-voices', 'catalog-models']) {
    await client.appendToStream(stream, [event(), event()])
  }
  t.strictSame(await findLimitedStreams(streams), [], 'whole streams')

  await client.setStreamMetadata('ringledger-marker', { maxCount: 1 })
  await client.deleteStream('ringledger-settings')
  await client.setStreamMetadata('catalog-voices', { truncateBefore: 1 })
  await client.setStreamMetadata('catalog-models', { maxAge: 60 })
  const found = await findLimitedStreams(streams)
  t.strictSame(found.map(({ stream, limit }) => [stream, limit]), [
    ['ringledger-marker', '$maxCount'],
    ['ringledger-settings', 'deleted'],
    ['catalog-voices', '$tb'],
    ['catalog-models', '$maxAge']
  ])
  t.match(found[0]?.problem, /ringledger-marker has \$maxCount.*: write metadata without \$maxCount to \$\$ringledger-marker\.$/)
  t.match(found[1]?.problem, /ringledger-settings was deleted.*: write metadata without \$tb to \$\$ringledger-settings, twice, /)

  for (const { stream } of found) await client.setStreamMetadata(stream, { owner: 'me' })
  await client.setStreamMetadata('ringledger-settings', { owner: 'me' })
  t.strictSame(await findLimitedStreams(streams), [], 'what it says mends it')
  t.equal((await streams.read('ringledger-settings')).length, 2)
})
