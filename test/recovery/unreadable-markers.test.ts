// What is no readable marker in the stream of markers stops nothing: the newest one that can be read counts.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { markerStream } from '../../src/domain/marker.js'
import type { Streams } from '../../src/log/event-log.js'
import { openIds } from '../../src/commands/ids.js'
import { findLastMarker } from '../../src/recovery/database-state.js'
import { openRestoreGuard } from '../../src/recovery/restore-guard.js'
import { keepingLog } from '../support/postgres/ledger.js'
import { happen, markedLogs } from './marked-log.js'

const { log, database } = await markedLogs(t)

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
    const guard = openRestoreGuard({ pool, streams, log: logger })
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
