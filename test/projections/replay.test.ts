// A replay builds the same rows beside the ones that readers see, and nobody notices the swap.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Pool } from 'pg'
import { assistants } from '../../projections/assistants.js'
import { activeGeneration, ensureProjections, outdated, schemaOf } from '../../projections/generations.js'
import { findLead, leads } from '../../projections/leads.js'
import { listenForPositions } from '../../projections/positions.js'
import type { Projection } from '../../projections/projection.js'
import { replay } from '../../projections/rebuild.js'
import { projectionConsumer } from '../../projections/run.js'
import { runConsumer } from '../../src/consumer/run.js'
import { noStream, openStreams } from '../../src/event-store/streams.js'
import { openIds } from '../../src/ids.js'
import { packageRoot } from '../../src/package-root.js'
import { migrate } from '../../src/postgres/migrate.js'
import { openPool } from '../../src/postgres/pool.js'
import { assistantCreated, assistantUpdated, callCompleted, leadCreated, type Told } from '../support/call-events.js'
import { keepingLog } from '../support/ledger.js'
import { everyProjection, quarantined, rowsOf } from '../support/projected.js'
import { scratchEventStore } from '../support/scratch-event-store.js'

const { postgres, client } = await scratchEventStore(t)
const streams = openStreams(client)
const signal = new AbortController().signal
const pool = await database(t, 'first')
const positions = listenForPositions(urlOf('first'), pool, () => {})
t.teardown(() => positions.close())

const revisions = new Map<string, bigint>()

/** Appends events to their streams, and answers the position of the last one. */
async function append (told: Told[]): Promise<bigint> {
  let position = 0n
  for (const { stream, type, data } of told) {
    const appended = await streams.append(stream, [{ id: randomUUID(), type, data, metadata: {} }], revisions.get(stream) ?? noStream)
    revisions.set(stream, appended.revision)
    position = appended.position
  }
  return position
}

function urlOf (name: string): string {
  return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
}

/** A migrated database of its own, with empty read models. */
async function database (t: Test, name: string): Promise<Pool> {
  const admin = openPool(postgres.url, { applicationName: 'admin', onError: () => {} })
  await admin.query(`CREATE DATABASE ${name}`)
  await admin.end()
  await migrate(urlOf(name), packageRoot)
  const pool = openPool(urlOf(name), { applicationName: 'test', max: 20, onError: () => {} })
  t.teardown(() => pool.end())
  await ensureProjections(pool, everyProjection)
  return pool
}

/** Projects live until the test ends. */
function projectLive (t: Test, pool: Pool, ...live: Projection[]): void {
  const stopping = new AbortController()
  const running = live.map((projection) =>
    runConsumer(projectionConsumer(projection, pool), { pool, streams, holder: 'test', signal: stopping.signal, log: keepingLog() }))
  t.teardown(async () => { stopping.abort(); await Promise.all(running) })
}

async function reached (projection: Projection, position: bigint): Promise<void> {
  if (!await positions.reached(projection.name, position, 15_000)) throw new Error(`${projection.name} did not reach ${position}`)
}

const replayed = (projection: Projection, through = pool, onProgress: Parameters<typeof replay>[1]['onProgress'] = () => {}) =>
  replay(projection, { pool: through, streams, signal, onProgress })

const history = Array.from({ length: 40 }, (_, index): Told[] => [
  assistantCreated(index + 1, {}, String(index % 3)),
  assistantUpdated(index + 1, { assistant_name: `Name ${index}`, variables: { b: 1, a: index } }, String(index % 3)),
  leadCreated(index * 10 + 10, 10, [index * 10 + 11], String(index % 3)),
  callCompleted(`c${index}`, { assistant_id: index + 1, lead_id: index * 10 + 10 + index % 2 })
]).flat()

t.test('a replay of an empty log swaps as well', async (t) => {
  t.match(await replayed(leads), { generation: 2, events: 0 })
})

t.test('the rows are identical, no reader ever misses one, and the live projector goes on with the new generation', async (t) => {
  projectLive(t, pool, leads)
  await reached(leads, await append(history))
  const before = await rowsOf(pool, leads)
  t.equal(before.size, 80)

  let isOver = false
  let looks = 0
  const reading = Array.from({ length: 3 }, async () => {
    while (!isOver) {
      const [{ rows: [all] }, one] = await Promise.all([pool.query<{ count: string }>('SELECT count(*) FROM read_model.leads'), findLead(pool, '1', 20)])
      if (all?.count !== '80' || one?.lead.secondary_contacts.length !== 1) throw new Error(`a reader saw ${all?.count} rows and ${JSON.stringify(one)}`)
      looks += 1
    }
  })
  const stop = () => { isOver = true }
  for (const generation of [3, 4]) {
    t.match(await Promise.race([replayed(leads), ...reading]), { generation, events: 120 })
    t.strictSame(await rowsOf(pool, leads), before)
  }
  stop()
  await Promise.all(reading)
  t.ok(looks > 0, `${looks} looks`)

  await reached(leads, await append([leadCreated(9_000, 10)]))
  t.equal((await rowsOf(pool, leads)).size, 81)
  t.equal(await activeGeneration(pool, leads), 4)
  const { rows } = await pool.query<{ nspname: string }>('SELECT nspname FROM pg_namespace WHERE nspname LIKE \'read_leads%\'')
  t.strictSame(rows.map(({ nspname }) => nspname), [schemaOf(leads, 4)], 'former generations are gone')
})

t.test('writes during a replay are in the rows after it', async (t) => {
  projectLive(t, pool, assistants)
  let last = 0n
  let isOver = false
  const writing = (async () => {
    for (let id = 100; !isOver; id += 1) last = await append([assistantCreated(id)])
  })()
  for (let round = 0; round < 3; round += 1) await replayed(assistants)
  isOver = true
  await writing
  await reached(assistants, last)
  const rows = await rowsOf(pool, assistants)
  t.strictSame([...rows.keys()].slice(40), Array.from({ length: rows.size - 40 }, (_, index) => 100 + index))
})

t.test('a replay that is stopped leaves readers where they were, and the next one succeeds', async (t) => {
  const generation = await activeGeneration(pool, leads)
  const stopping = new AbortController()
  await pool.query(`UPDATE ${schemaOf(leads, generation)}.checkpoint SET position = position + 1000000`) // out of reach for the swap
  await t.rejects(replay(leads, { pool, streams, signal: stopping.signal, onProgress: () => stopping.abort() }), { message: /readers still see generation/ })
  t.equal(await activeGeneration(pool, leads), generation)
  await pool.query(`UPDATE ${schemaOf(leads, generation)}.checkpoint SET position = position - 1000000`)
  t.match(await replayed(leads), { generation: generation + 1 })
})

t.test('what was set aside is set aside again, and nothing of the former generation is kept', async (t) => {
  await append([{ stream: 'assistant-5000', type: 'AssistantCreated', data: { nonsense: true } }])
  for (let round = 0; round < 2; round += 1) {
    await replayed(assistants)
    t.match(await quarantined(pool, assistants), [{ stream: 'assistant-5000', revision: 0 }])
  }
  const { rows } = await pool.query<{ consumer: string }>('SELECT DISTINCT consumer FROM ledger.quarantine WHERE consumer LIKE \'read_assistants%\'')
  t.equal(rows.length, 1)
})

t.test('a fresh database gets the same rows, and gives out no id of the log again', async (t) => {
  const fresh = await database(t, 'fresh')
  const ofFresh = listenForPositions(urlOf('fresh'), fresh, () => {})
  t.teardown(() => ofFresh.close())
  projectLive(t, fresh, assistants, leads)
  const head = await streams.head()
  for (const projection of [assistants, leads]) {
    await replayed(projection, fresh)
    t.ok(await ofFresh.reached(projection.name, head, 15_000))
  }
  t.strictSame(await rowsOf(fresh, leads), await rowsOf(pool, leads))
  const ids = openIds(fresh, async () => true)
  for (const [kind, projection] of [['assistant', assistants], ['lead', leads]] as const) {
    const [first = 0] = await ids.take(kind)
    t.ok(first > Math.max(...[...(await rowsOf(fresh, projection)).keys()].map(Number)))
  }
})

t.test('making sure that projections are there is safe from many processes at once', async (t) => {
  const admin = await database(t, 'together')
  await admin.query(`DROP SCHEMA ${schemaOf(leads, 1)} CASCADE`)
  await Promise.all(Array.from({ length: 5 }, () => ensureProjections(admin, everyProjection)))
  t.equal((await admin.query('SELECT FROM read_model.leads')).rowCount, 0)
})

t.test('a read model that other code has folded is named with what to run, until it is replayed', async (t) => {
  const own = await database(t, 'older')
  t.strictSame(await outdated(own, everyProjection), [])
  const newer = { ...leads, version: leads.version + 1 }
  t.strictSame(await outdated(own, [assistants, newer]), [
    { name: 'leads', foldedBy: leads.version, version: newer.version, mend: 'ringledger projections replay leads' }
  ])
  await replayed(newer, own)
  t.strictSame(await outdated(own, [assistants, newer]), [])
})
