// More than ten streams refused within a minute are a bug: the projection stops, and loses nothing by going on.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { closeBreakers } from '../../../projections/engine/circuit-breaker.js'
import { CannotProject, type Projection } from '../../../projections/engine/projection.js'
import { Stopped } from '../../../src/subscriptions/run.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { assistantCreated, logOf } from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, parkedEvents, rowsOf } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)
t.beforeEach(async () => {
  await emptyReadModels(pool, [assistants])
  await pool.query('DELETE FROM ledger.skipped_events')
})

const consumer = 'read_assistants_g1'
const poison = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...assistantCreated(from + index), data: { nonsense: true } }))
const breaker = async () => (await pool.query<{ isOpen: boolean, streams: number }>(`
  SELECT breaker_open_since IS NOT NULL AS "isOpen", breaker_streams AS streams
  FROM ledger.generations WHERE projection = 'assistants'`)).rows[0]
const parkedStreams = async () => new Set((await parkedEvents(pool, assistants)).map(({ stream }) => stream)).size

t.test('ten streams are parked, and with the eleventh the batch moves nothing', async (t) => {
  const place = logOf()
  const feed = await feeding(assistants, pool)
  await feed.batch(place(poison(1, 10)))
  const reached = await readCheckpoint(pool, `${consumer}.checkpoint`)
  await t.rejects(feed.batch(place([assistantCreated(50), ...poison(11, 1)])), {
    name: 'Stopped',
    message: /has refused 11 streams within 1 minute, the last one with: AssistantCreated at assistant-11@0/
  })
  t.equal(await parkedStreams(), 10)
  t.equal((await rowsOf(pool, assistants)).size, 0)
  t.equal(await readCheckpoint(pool, `${consumer}.checkpoint`), reached)
  t.strictSame(await breaker(), { isOpen: true, streams: 11 })
})

t.test('an open circuit breaker lets no stream be parked up to its position, in other processes too', async (t) => {
  const log = logOf()([...poison(1, 11), assistantCreated(50)])
  await t.rejects((await feeding(assistants, pool)).batch(log), Stopped)
  await t.rejects((await feeding(assistants, pool, 2n)).batch(log.slice(0, 1)), {
    name: 'Stopped', message: /^the circuit breaker of read_assistants_g1 is open: /
  })
  t.equal(await parkedStreams(), 0)
})

t.test('a projection with mended code goes on without a command', async (t) => {
  const log = logOf()(Array.from({ length: 12 }, (_, index) => assistantCreated(index + 1)))
  const broken: Projection = { ...assistants, project () { throw new CannotProject('a bug') } }
  await t.rejects((await feeding(broken, pool)).batch(log), Stopped)
  await (await feeding(assistants, pool, 2n)).batch(log)
  t.equal((await rowsOf(pool, assistants)).size, 12)
  t.equal((await breaker())?.isOpen, false)
})

t.test('once an operator has closed it, events up to its position are parked, and later ones count anew', async (t) => {
  const place = logOf()
  const log = place([...poison(1, 30), assistantCreated(50)])
  await t.rejects((await feeding(assistants, pool)).batch(log), Stopped)
  t.equal(await closeBreakers(pool, assistants), 1)
  t.equal(await closeBreakers(pool, assistants), 0, 'it is closed already')
  const feed = await feeding(assistants, pool, 2n)
  await feed.batch(log)
  t.equal(await parkedStreams(), 30)
  t.strictSame([...(await rowsOf(pool, assistants)).keys()], [50])
  await feed.batch(place(poison(100, 10)))
  await t.rejects(feed.batch(place(poison(200, 1))), Stopped)
})
