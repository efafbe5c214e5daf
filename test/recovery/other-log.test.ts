// A log that has gone back is told from the one that this database has followed, and gets no marker.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { refuseOtherLog } from '../../src/recovery/same-log.js'
import { keepingLog } from '../support/postgres/ledger.js'
import { EventLog } from '../../src/log/event-log.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { happen, markedLogs } from './marked-log.js'
import { eventually } from '../support/eventually.js'
import { keptGuard } from '../support/workers/worker-site.js'

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
