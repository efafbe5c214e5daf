// Operators mend parked events: a retry takes a whole stream or nothing, a skip is final,
// and the live projection goes on meanwhile.
import t, { type Test } from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { parkedEvent, parkedStreams, retryStream, skipEvent } from '../../../projections/engine/parked.js'
import { CannotProject, type Projection } from '../../../projections/engine/projection.js'
import { generationConsumer } from '../../../projections/engine/feed.js'
import { checkpointOf, createGeneration } from '../../../projections/engine/generations.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { EventLog } from '../../../src/log/event-log.js'
import { appender } from '../../support/events/appender.js'
import { assistantCreated, assistantUpdated, type Told } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, parkedEvents, rowsOf } from '../../support/projections/projected.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'

const { pool, postgres } = await scratchLedger(t)
const { connection } = await scratchEventStore(t, { postgres })
const streams = new EventLog(connection)
const on = { pool, streams }
await emptyReadModels(pool, [assistants])

let assistantIds = 0
const append = appender(streams)

/** Projects live until the test ends; `has` resolves when it has come to a position. */
function live (t: Test, projection: Projection, generation = 1) {
  const stopping = new AbortController()
  const log = keepingLog()
  const options = { pool, streams, holder: 'test', signal: stopping.signal, log }
  const running = runSubscription(generationConsumer(projection, generation, pool), options)
  const stop = async () => {
    stopping.abort()
    await running
  }
  t.teardown(stop)
  const has = (position: bigint) =>
    eventually(async () => await readCheckpoint(pool, checkpointOf(projection, generation)) >= position)
  return { log, stop, has }
}

const malformed = (stream: string): Told => ({ stream, type: 'AssistantUpdated', data: { nonsense: true } })
const named = async (id: number) => (await rowsOf(pool, assistants)).get(id)
const parkedOf = async (stream: string) =>
  (await parkedEvents(pool, assistants)).filter((parked) => parked.stream === stream).map(({ revision }) => revision)

/** A stream whose updates to this name are refused by `picky`, with one before and one after. */
async function refusedStream (): Promise<{ id: number, stream: string, last: bigint }> {
  const id = ++assistantIds
  const update = (assistant_name: string) => assistantUpdated(id, { assistant_name })
  return { id, stream: `assistant-${id}`, last: await append(assistantCreated(id), update('refused'), update('later')) }
}
const picky: Projection = {
  ...assistants,
  project (event, place, rows) {
    if (event.type === 'AssistantUpdated' && event.data.changes.assistant_name === 'refused') {
      throw new CannotProject('not this name')
    }
    assistants.project(event, place, rows)
  }
}

t.test('corrected code projects a parked stream, in order, beside the live projection', async (t) => {
  const { id, stream, last } = await refusedStream()
  const before = live(t, picky)
  await before.has(last)
  await before.stop()
  t.strictSame(await parkedOf(stream), [1, 2])
  t.match(await parkedEvent(on, assistants, stream), { error: 'not this name', parked: 2, revision: 1n })
  t.match(await parkedEvent(on, assistants, stream, 2n), { revision: 2n, error: /earlier event/ })
  const parked = await parkedEvents(pool, assistants)
  const message = `${stream} stays parked, as it was: not this name`
  await t.rejects(retryStream(on, picky, stream), { name: 'ParkingRefused', message })
  t.strictSame(await parkedEvents(pool, assistants), parked)

  const after = live(t, assistants)
  t.match(await retryStream(on, assistants, stream), { generation: 1, events: 2, parked: 0 })
  t.match(await named(id), { name: 'later', revision: 2 })
  t.strictSame(await parkedOf(stream), [])
  await after.has(await append(assistantUpdated(id, { assistant_name: 'goes on' })))
  t.match(await named(id), { name: 'goes on', revision: 3 })
  const stops = after.log.lines.filter(({ message }) => message.startsWith('consumer stopped'))
  t.strictSame(stops, [], 'it goes on all the time')
})

t.test('a skip is final, and the rest of the stream goes on up to the next event that is refused', async (t) => {
  const id = ++assistantIds
  const stream = `assistant-${id}`
  const projector = live(t, assistants)
  await projector.has(await append(
    assistantCreated(id), malformed(stream), assistantUpdated(id, { assistant_name: 'between' }), malformed(stream),
    assistantUpdated(id, { assistant_name: 'last' })
  ))
  const since = (await parkedEvent(on, assistants, stream)).since
  t.match(await skipEvent(on, assistants, stream, 1n, 'nonsense'), { parked: 2, refused: /nonsense|changes|data/ })
  t.match(await named(id), { name: 'between', revision: 2 })
  t.strictSame((await parkedEvent(on, assistants, stream)).since, since, 'what still waits is not new')
  t.match(await skipEvent(on, assistants, stream, 3n, 'nonsense'), { parked: 0, refused: undefined })
  t.match(await named(id), { name: 'last', revision: 4 })
  await projector.has(await append(assistantUpdated(id, { assistant_name: 'live' })))
  t.match(await named(id), { name: 'live', revision: 5 })
})

t.test('a parked event that an erasure has hidden since can be skipped, and a retry passes over it', async (t) => {
  for (const goOn of [retryStream, (...args: Parameters<typeof retryStream>) => skipEvent(...args, 1n, 'hidden')]) {
    const id = ++assistantIds
    const stream = `assistant-${id}`
    const update = (assistant_name: string) => assistantUpdated(id, { assistant_name })
    const projector = live(t, assistants)
    await projector.has(await append(assistantCreated(id), malformed(stream), malformed(stream), update('after')))
    await streams.truncate(stream, 3n)
    t.match(await goOn(on, assistants, stream), { events: 3, hidden: 2, parked: 0, refused: undefined })
    t.match(await named(id), { name: 'after', revision: 3 })
    await projector.stop()
  }
})

t.test('a retry while the stream is being written to loses nothing', async (t) => {
  const { id, stream, last } = await refusedStream()
  const before = live(t, picky)
  await before.has(last)
  await before.stop()
  const projector = live(t, assistants)
  const writing = (async () => {
    for (let n = 0; n < 40; n += 1) await append(assistantUpdated(id, { assistant_name: `name ${n}` }))
    return await append(assistantUpdated(id, { assistant_name: 'the last one' }))
  })()
  await retryStream(on, assistants, stream)
  await projector.has(await writing)
  t.match(await named(id), { name: 'the last one', revision: 43 })
  t.strictSame(await parkedOf(stream), [])
})

t.test('rows that other code folded are left to a replay', async (t) => {
  const { id, stream, last } = await refusedStream()
  await live(t, picky).has(last)
  const newer = { ...assistants, version: assistants.version + 1 }
  const refused = `version ${assistants.version} of its code folded what readers see, and this release has version ` +
    `${newer.version}; run \`ringledger projections replay assistants\` first`
  const message = `${stream} stays parked, as it was: ${refused}`
  await t.rejects(retryStream(on, newer, stream), { name: 'ParkingRefused', message })
  t.match(await skipEvent(on, newer, stream, 1n, 'for the replay'), { generation: 1, events: 0, parked: 2, refused })
  t.strictSame(await parkedOf(stream), [1, 2])
  t.match(await named(id), { name: 'Front desk', revision: 0 })
})

t.test('a retry reaches every generation of its code, in a pause too, and after one that broke off', async (t) => {
  const { id, stream, last } = await refusedStream()
  await inTransaction(pool, (tx) => createGeneration(tx, assistants, 2, 'retained'))
  await inTransaction(pool, (tx) => createGeneration(tx, assistants, 3, 'building'))
  const before = [1, 2, 3].map((generation) => live(t, picky, generation))
  for (const projector of before) await projector.has(last)
  for (const projector of before) await projector.stop()
  const builder = live(t, assistants, 3)
  await pool.query("INSERT INTO ledger.paused_projections (projection) VALUES ('assistants')")
  const generations = async () => (await parkedStreams(pool, ['assistants']))
    .filter((parked) => parked.stream === stream).map(({ generation }) => generation).toSorted()
  t.strictSame(await generations(), [1, 2, 3])

  await pool.query('ALTER TABLE read_assistants_g2.checkpoint RENAME TO away')
  await t.rejects(retryStream(on, assistants, stream), { code: '42P01' })
  await pool.query('ALTER TABLE read_assistants_g2.away RENAME TO checkpoint')
  t.strictSame(await generations(), [2, 3])
  t.match(await retryStream(on, assistants, stream), { generation: 2, events: 2, parked: 0 })
  t.strictSame(await generations(), [])
  await t.rejects(retryStream(on, assistants, stream), { name: 'ParkingRefused', message: /has not parked/ })
  await builder.has(await append(assistantUpdated(id, { variables: { more: 1 } })))
  const { rows } = await pool.query(`
    SELECT name, revision FROM read_assistants_g2.assistants WHERE id = $1
    UNION ALL SELECT name, revision FROM read_assistants_g3.assistants WHERE id = $1`, [id])
  t.match(rows, [{ name: 'later', revision: 2 }, { name: 'later', revision: 3 }])
})
