// A live projection and a replay while the back ends under them are slow, cut off or restarted: late, and nothing else.
import t, { type Test } from 'tap'
import { leads } from '../../../projections/leads.js'
import type { BuildOptions } from '../../../projections/replay/build.js'
import { replay } from '../../../projections/replay/replay.js'
import { faults } from '../../../src/subscriptions/faults.js'
import { openStreams } from '../../../src/event-store/streams.js'
import { leadCreated } from '../../support/call-events.js'
import { rowsOf } from '../../support/projected.js'
import { history, replayRig, type ReplayDatabase } from '../../support/replay-rig.js'
import { connect } from '../../support/scratch-event-store.js'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import { tcpProxy } from '../../support/tcp-proxy.js'

const rig = await replayRig(t)
const proxy = await tcpProxy(t, Number(new URL(rig.eventStoreUrl).port))
const far = openStreams(connect(t, `esdb://127.0.0.1:${proxy.port}?tls=false`))
const postgres = await postgresCluster(t, { fsync: false })
let head = await rig.append(history(60))
let leadIds = 10_000
const limits = { events: 20 }

/** Lets something happen each time a process passes the point, `times` at most; answers how often it did. */
function whenAt (t: Test, point: string, times: number, happen: () => unknown): () => number {
  let count = 0
  faults.at = async (now) => { if (now === point && count < times) { count += 1; await happen() } }
  t.teardown(() => { faults.at = undefined })
  return () => count
}

/** Leads are projected and replayed through the proxy, a lead more comes, and rows are those of a replay with nothing in between. */
async function holds (t: Test, db: ReplayDatabase, outage: () => number): Promise<void> {
  db.project(t, leads)
  t.equal(await untilReplayed(t, db, db.options({ limits })), 2)
  t.ok(outage() > 0, `${outage()} times`)
  faults.at = undefined
  head = await rig.append([leadCreated(++leadIds, 10)])
  await db.reached(leads, head)
  const calm = await rig.database(t)
  t.equal(await replay(leads, calm.options()), 2)
  for (const { name } of leads.tables) t.strictSame(await rowsOf(db.pool, leads, name), await rowsOf(calm.pool, leads, name), name)
}

/** As an operator would: the same command again, as long as it says so. */
async function untilReplayed (t: Test, db: ReplayDatabase, options: BuildOptions): Promise<number> {
  for (;;) {
    try {
      return await replay(leads, options)
    } catch (error) {
      t.match(error, { name: 'BrokenOff', message: /^The replay of leads broke off: .*\nReaders see what they saw. Run the same command again/ })
      t.ok((await db.generations(leads)).includes('1 active'))
    }
  }
}

t.test('an event store that answers after 150 ms, with 200 kB in a second', async (t) => {
  const db = await rig.database(t, { streams: far })
  proxy.slow(150, 200_000)
  const began = performance.now()
  await holds(t, db, () => Math.round((performance.now() - began) / 150))
  proxy.cut()
})

t.test('an event store that is cut off again and again', async (t) => {
  const db = await rig.database(t, { streams: far })
  await holds(t, db, whenAt(t, 'replay: committed', 4, () => proxy.cut()))
})

t.test('an event store that cuts off whoever projects live', async (t) => {
  const db = await rig.database(t, { streams: far })
  const outage = whenAt(t, 'committed', 3, () => proxy.cut())
  db.project(t, leads)
  await db.reached(leads, head)
  await holds(t, db, outage)
})

for (const point of ['replay: saved', 'replay: level', 'replay: index', 'swap: held']) {
  t.test(`Postgres is restarted at "${point}"`, async (t) => {
    const db = await rig.database(t, { postgres })
    await holds(t, db, whenAt(t, point, 1, () => postgres.restart()))
  })
}

t.test('the event store is restarted in the middle', async (t) => {
  const db = await rig.database(t)
  await holds(t, db, whenAt(t, 'replay: committed', 1, () => rig.restartEventStore()))
})
