// A consumer misses nothing and handles nothing twice, whatever fails around it.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { checkpointTable, readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { runSubscription, type OpenConsumer } from '../../src/subscriptions/run.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { noStream, openStreams, type Streams } from '../../src/event-store/streams.js'
import { eventually } from '../support/eventually.js'
import { keepingLog, scratchLedger } from '../support/ledger.js'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import { connect, eventStoreOn } from '../support/scratch-event-store.js'
import { tcpProxy } from '../support/tcp-proxy.js'

const postgres = await postgresCluster(t, { fsync: false })
const { pool } = await scratchLedger(t, postgres)
let store = await eventStoreOn(postgres.url)
t.teardown(() => store.close())
const proxy = await tcpProxy(t, store.port)
const streams = openStreams(connect(t, `esdb://127.0.0.1:${proxy.port}?tls=false`))

async function restartStore (): Promise<void> {
  await store.close()
  proxy.cut()
  store = await eventStoreOn(postgres.url)
  proxy.leadTo(store.port)
}

/** Appends events of this type, and insists while the store is away. */
async function append (type: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (const id of ids) {
    const event = { id, type, data: {}, metadata: {} }
    await eventually(() => streams.append(`test-${id}`, [event], noStream))
  }
  return ids
}

interface Handled { table: string, ids (): Promise<string[]>, stop (): Promise<void>, log: ReturnType<typeof keepingLog> }

/** Runs a consumer that writes down the id of each event that it handles. */
async function consume (
  t: Test, type: string, before: OpenConsumer['handle'] = async () => {}, through: Streams = streams
): Promise<Handled> {
  const table = `checkpoint_${type.toLowerCase()}`
  await pool.query(`CREATE TABLE IF NOT EXISTS handled_${type} (place serial, id uuid); ${checkpointTable(table)}`)
  const stopping = new AbortController()
  const log = keepingLog()
  const running = runSubscription({
    name: `test ${type}`,
    eventTypes: [type],
    open: async () => ({
      checkpointTable: table,
      async handle (tx, batch) {
        for (const { id } of batch.events) await tx.query(`INSERT INTO handled_${type} (id) VALUES ($1)`, [id])
        await before(tx, batch)
      }
    })
  }, { streams: through, pool, holder: 'test', signal: stopping.signal, log })
  const stop = async () => { stopping.abort(); await running }
  t.teardown(stop)
  return {
    table,
    stop,
    log,
    ids: async () =>
      (await pool.query<{ id: string }>(`SELECT id FROM handled_${type} ORDER BY place`)).rows.map(({ id }) => id)
  }
}

t.test('events are handled once each, in order, also after a stop and a start', async (t) => {
  const first = await append('Plain', 5)
  const { ids, stop } = await consume(t, 'Plain')
  await eventually(async () => (await ids()).length === 5)
  await stop()
  const second = await append('Plain', 5)
  const again = await consume(t, 'Plain')
  await eventually(async () => (await again.ids()).length === 10)
  t.strictSame(await again.ids(), [...first, ...second])
})

t.test('an error in handle moves nothing, and the batch comes again', async (t) => {
  const wanted = await append('Failing', 3)
  let failures = 0
  const { ids, table, log } = await consume(t, 'Failing', async () => {
    if (failures >= 3) return
    failures += 1
    if (failures > 1) t.equal(await readCheckpoint(pool, table), 0n)
    throw new Error('not now')
  })
  await eventually(async () => (await ids()).length === wanted.length) // in one batch or in several
  t.strictSame(await ids(), wanted)
  t.ok(await readCheckpoint(pool, table) > 0n)
  t.equal(
    log.lines.filter(({ message }) => message.startsWith('consumer stopped')).length, 3, 'each failure is told once'
  )
})

t.test('restarts of the event store are survived, with nothing twice and nothing missing', async (t) => {
  const { ids } = await consume(t, 'Restarted')
  const wanted = await append('Restarted', 10)
  for (let round = 0; round < 2; round += 1) {
    const appending = append('Restarted', 10)
    await restartStore()
    wanted.push(...await appending)
  }
  await eventually(async () => (await ids()).length >= wanted.length)
  t.strictSame(await ids(), wanted)
})

t.test('so are lost connections of Postgres', async (t) => {
  const { ids } = await consume(t, 'Cut')
  const wanted = await append('Cut', 5)
  for (let round = 0; round < 3; round += 1) {
    const appending = append('Cut', 5)
    await eventually(async () => (await ids()).length > 5 * round)
    await pool.query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'test' AND pid <> pg_backend_pid()`)
    wanted.push(...await appending)
  }
  await eventually(async () => (await ids()).length >= wanted.length)
  t.strictSame(await ids(), wanted)
})

t.test('a stop lets the batch in hand finish', async (t) => {
  const [wanted] = await append('Stopped', 1)
  let isHandling = false
  let finish = () => {}
  const finished = new Promise<void>((resolve) => { finish = resolve })
  const { ids, stop } = await consume(t, 'Stopped', async () => { isHandling = true; await finished })
  await eventually(() => isHandling)
  const stopped = stop()
  finish()
  await stopped
  t.strictSame(await ids(), [wanted])
})

t.test('what the store delivers again is handled once', async (t) => {
  const twice: Streams = {
    ...streams,
    async * follow (options) {
      let former: StoredEvent[] = []
      for await (const { events, position } of streams.follow(options)) {
        yield { events: [...former, ...events, ...events], position }
        yield { events, position }
        former = events
      }
    }
  }
  const { ids, log } = await consume(t, 'Twice', undefined, twice)
  const wanted = await append('Twice', 10)
  await eventually(async () => (await ids()).length >= wanted.length)
  wanted.push(...await append('Twice', 5))
  await eventually(async () => (await ids()).length >= wanted.length)
  t.strictSame(await ids(), wanted)
  t.strictSame(log.lines.filter(({ message }) => message.startsWith('consumer stopped')), [])
})

t.test('a restart of Postgres is survived, with nothing twice and nothing missing', async (t) => {
  const { ids } = await consume(t, 'Rebooted')
  const wanted = await append('Rebooted', 10)
  await eventually(async () => (await ids()).length === 10)
  await postgres.restart()
  wanted.push(...await append('Rebooted', 10))
  await eventually(async () => (await ids()).length >= wanted.length)
  t.strictSame(await ids(), wanted)
})

t.test('an event store that falls silent is noticed within ten seconds, and followed again afterwards', async (t) => {
  const { ids, log } = await consume(t, 'Silent')
  const wanted = await append('Silent', 3)
  await eventually(async () => (await ids()).length === 3)
  const since = performance.now()
  proxy.freeze()
  await eventually(() => log.lines.some(({ message }) => message.startsWith('consumer stopped')))
  t.ok(performance.now() - since < 10_000, `after ${Math.round(performance.now() - since)} ms`)
  proxy.cut()
  wanted.push(...await append('Silent', 3))
  await eventually(async () => (await ids()).length >= wanted.length)
  t.strictSame(await ids(), wanted)
})
