// A log that has gone back is told from the one that this database has followed, and gets no marker.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openLogGuard } from '../../src/recovery/log-guard.js'
import { keepingLog } from '../support/postgres/ledger.js'
import { happen, markedLogs } from '../support/back-ends/marked-log.js'
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
