// Streams with long names, longer than an entry of an index, and with many events: what is parked of them is found.
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { leads } from '../../../projections/leads.js'
import { parkedEvent, parkedStreams, retryStream, skipEvent } from '../../../projections/engine/parked.js'
import { loadParked } from '../../../projections/engine/writer.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { assistantCreated, assistantUpdated, leadCreated, logOf } from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, parkedEvents, project, rowsOf } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)
await emptyReadModels(pool)
const longName = () => `lead-10-${randomBytes(5_000).toString('hex')}` // that no compression makes short
const [stream, other] = [longName(), longName()]

t.test('an event on a stream with a long name is parked, with the later ones, and nothing else is', async (t) => {
  const log = logOf()([
    { stream, type: 'LeadCreated', data: { nonsense: true } }, { ...leadCreated(1, 10), stream },
    { ...leadCreated(2, 10), stream: other }
  ])
  await project(pool, log)
  const parked = (await parkedEvents(pool, leads)).map((event) => [event.stream, event.revision])
  t.strictSame(parked, [[stream, 0], [stream, 1]])
  t.match(await parkedStreams(pool, ['leads']), [{ projection: 'leads', stream, events: 2 }])
  const { streams } = await inTransaction(pool, (tx) => loadParked(tx, 'read_leads_g1', 'leads', log))
  t.strictSame([...streams], [stream])
  t.equal((await parkedEvents(pool, assistants)).length, 0)

  const read = async (name: string, from = 0n) => log.filter((each) => each.stream === name && each.revision >= from)
  const visit = async (name: string, from: bigint, take: (event: StoredEvent) => void) => {
    for (const event of await read(name, from)) take(event)
    return true
  }
  const on = { pool, streams: { read, visit } }
  t.match(await parkedEvent(on, leads, stream), { revision: 0n, parked: 2 })
  await t.rejects(retryStream(on, leads, stream), { name: 'ParkingRefused' })
  t.match(await skipEvent(on, leads, stream, 0n, 'nonsense'), { events: 2, parked: 0 })
  t.strictSame(await parkedEvents(pool, leads), [])
})

t.test('of a stream with many parked events few are read at once', async (t) => {
  const name = 'assistant-9'
  const updates = Array.from({ length: 250 }, (_, n) => assistantUpdated(9, { assistant_name: `Name ${n}` }))
  const log = logOf()([assistantCreated(9), { stream: name, type: 'AssistantUpdated', data: { nonsense: true } }, ...updates])
  await project(pool, log)
  t.equal((await parkedEvents(pool, assistants)).length, 251)
  const counts: unknown[] = []
  const read = async (_stream: string, from = 0n, count = log.length) => {
    counts.push(count)
    return log.slice(Number(from), Number(from) + count)
  }
  t.match(await skipEvent({ pool, streams: { read } }, assistants, name, 1n, 'nonsense'), { events: 251, parked: 0 })
  t.ok(counts.every((count) => Number(count) <= 100))
  t.match((await rowsOf(pool, assistants)).get(9), { name: 'Name 249', revision: 251 })
})
