// A live projection and a replay while the back ends under them are slow, cut off or restarted: late, and nothing else.
import t, { type Test } from 'tap'
import { leads } from '../../../projections/leads.js'
import { replay } from '../../../projections/engine/operations.js'
import type { BuildOptions } from '../../../projections/engine/replay.js'
import { EventLog } from '../../../src/log/event-log.js'
import { leadCreated } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { rowsOf } from '../../support/projections/projected.js'
import { type ReplayDatabase, history, replayRig } from '../../support/replay/replay-rig.js'
import { connectionTo } from '../../support/back-ends/scratch-event-store.js'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import type { Watching } from '../../support/postgres/statements.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'

const rig = await replayRig(t)
const proxy = await tcpProxy(t, Number(new URL(rig.eventStoreUrl).port))
const far = new EventLog(connectionTo(t, `esdb://127.0.0.1:${proxy.port}?tls=false`))
const postgres = await postgresCluster(t, { fsync: false })
let head = await rig.append(history(60))
let leadIds = 10_000
const limits = { events: 20 }

interface Outage { watching: Watching, count (): number }

/** Lets something happen after each statement like this, `times` at most. */
function afterEach (like: RegExp, times: number, happen: () => unknown): Outage {
  let count = 0
  const watching: Watching = {
    after: async (statement) => {
      if (like.test(statement) && count < times) {
        count += 1
        await happen()
      }
    }
  }
  return { watching, count: () => count }
}

/** Leads are projected and replayed through the proxy, and rows are those of a replay without it. */
async function holds (t: Test, db: ReplayDatabase, outages: () => number): Promise<void> {
  db.project(t, leads)
  t.equal(await untilReplayed(t, db, db.options({ limits })), 2)
  t.ok(outages() > 0, `${outages()} times`)
  head = await rig.append([leadCreated(++leadIds, 10)])
  await db.reached(leads, head)
  const calm = await rig.database(t)
  t.equal(await replay(leads, calm.options()), 2)
  for (const { name } of leads.tables) {
    t.strictSame(await rowsOf(db.pool, leads, name), await rowsOf(calm.pool, leads, name), name)
  }
}

/** As an operator would: the same command again, as long as it says so. */
async function untilReplayed (t: Test, db: ReplayDatabase, options: BuildOptions): Promise<number> {
  for (;;) {
    try {
      return await replay(leads, options)
    } catch (error) {
      t.match(error, {
        name: 'BrokenOff',
        message: /^The replay of leads broke off: .*\nReaders see what they saw. Run the same command again/
      })
      // Postgres may still be on its way down.
      t.ok((await eventually(() => db.generations(leads))).includes('1 active'))
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
  const { watching, count } = afterEach(/^WITH moved AS \( UPDATE read_leads_g2/, 4, () => proxy.cut())
  await holds(t, await rig.database(t, { streams: far, watching }), count)
})

t.test('an event store that cuts off a live projection', async (t) => {
  const { watching, count } = afterEach(/^WITH moved AS \( UPDATE read_leads_g1/, 3, () => proxy.cut())
  const db = await rig.database(t, { streams: far, watching })
  db.project(t, leads)
  await db.reached(leads, head)
  await holds(t, db, count)
})

for (const [where, like] of [
  ['while rows are written', /^WITH moved AS .*INSERT INTO read_leads_g2.leads/],
  ['while generations are compared', /^SELECT count.* FROM read_leads_g2.leads$/],
  ['while indexes are built', /^CREATE INDEX/],
  ['while a swap holds the checkpoint', /^UPDATE read_leads_g1.checkpoint SET position = position/]
] as const) {
  t.test(`Postgres is restarted ${where}`, async (t) => {
    const { watching, count } = afterEach(like, 1, () => postgres.restart())
    await holds(t, await rig.database(t, { postgres, watching }), count)
  })
}

t.test('the event store is restarted in the middle', async (t) => {
  const { watching, count } =
    afterEach(/^WITH moved AS \( UPDATE read_leads_g2/, 1, () => rig.restartEventStore())
  await holds(t, await rig.database(t, { watching }), count)
})
