// A log that has gone back is told from the one that this database has followed, and gets no marker.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openLogGuard } from '../../src/recovery/other-log.js'
import { keepingLog } from '../support/postgres/ledger.js'
import { EventLog } from '../../src/log/event-log.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { happen, markedLogs } from './marked-log.js'
import { eventually } from '../support/eventually.js'

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
  await t.rejects(hold(), { name: 'OtherLog', message: /knows two markers 0 .*`ringledger events adopt`/ })
})

t.test('the guard looks again and again, tells once, and tells when it is over', async (t) => {
  const streams = await log(t)
  const { pool, moveTo } = await database(t, streams)
  const { lines, ...logger } = keepingLog()
  const guard = openLogGuard({ pool, streams, readUpTo: async () => [], log: logger, everyMs: 20 })
  t.teardown(guard.keepChecking())
  await moveTo(10n ** 6n)
  await eventually(() => guard.problem() !== undefined)
  await t.rejects(guard.assert(), { name: 'OtherLog' })
  await moveTo(0n)
  await eventually(() => guard.problem() === undefined)
  t.match(lines.map(({ message }) => message), [/`ringledger events adopt`/, /is the one that this database has followed/])
})

t.test('an event behind what was read is proof as long as it is there, and where the database had been as far', async (t) => {
  const streams = await log(t)
  const { pool, moveTo } = await database(t, streams)
  const guard = openLogGuard({ pool, streams, readUpTo: async () => [], log: keepingLog() })
  const commandId = randomUUID()
  const stream = `test-${commandId}`
  const event = { id: randomUUID(), type: 'Happened', data: {}, metadata: { command_id: commandId } }
  const { revision, position } = await streams.append(stream, [event], -1n)
  const proof = { stream, revision, position, commandId, readUpTo: position }

  await guard.wentBack(proof)
  await guard.assert()
  t.equal(guard.problem(), undefined, 'the positions that it knew are of another time')

  await moveTo(position)
  await guard.wentBack(proof)
  for (let n = 0; n < 3; n++) await happen(streams)
  await t.rejects(guard.assert(), { name: 'OtherLog', message: /took an event at position \d+ after it had been read up to/ })

  await pool.query('UPDATE ledger.appended_behind SET command_id = gen_random_uuid()')
  await guard.assert()
  t.equal(guard.problem(), undefined, 'the log without that event is the right one')
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
