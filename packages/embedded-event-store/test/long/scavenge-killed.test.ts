// A scavenge that kill -9 ends half-way has removed nothing that it should not, and the next one does the rest.
import { jsonEvent, START } from '@eventstore/db-client'
import { eventually, scratchPostgres } from '@ringledger/embedded-postgres/testing'
import pg from 'pg'
import t from 'tap'
import { eventStoreProcess } from '../support/event-store-process.js'
import { collect, connect } from '../support/scratch-event-store.js'
import { scavenge } from '../support/scavenge.js'

const postgres = await scratchPostgres(t)
const server = await eventStoreProcess(t, postgres.url)
const url = `esdb://127.0.0.1:${server.port}?tls=false`
const table = new pg.Client({ connectionString: postgres.url })
await table.connect()
t.teardown(() => table.end())

const streams = 10
const each = 1_000
const events = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} }))
const left = async () => Number((await table.query(
  "select count(*) from eventstore.events where type = 'Happened'")).rows[0].count)

t.test('killed between two parts', async (t) => {
  const client = connect(t, url)
  for (let index = 0; index < streams; index++) {
    await client.appendToStream(`s-${index}`, events(each))
    await client.setStreamMetadata(`s-${index}`, { truncateBefore: each - 1 })
  }
  t.equal(await left(), streams * each)
  await fetch(`http://127.0.0.1:${server.port}/admin/scavenge`, { method: 'POST' })
  await eventually(async () => await left() < streams * each, 15_000, 1)
  await server.kill()
  await server.start() // once Postgres has ended what the former one had asked for
  const half = await left()
  t.ok(half > streams, `${half} are left`)
  const again = connect(t, url)
  const head = (await collect(again.readAll({ fromPosition: START }))).at(-1)?.event?.position.commit ?? 0n
  t.match(await scavenge(server, again), { result: 'Success', eventsRemoved: half - streams })
  for (let index = 0; index < streams; index++) {
    t.same((await collect(again.readStream(`s-${index}`))).map(({ event }) => event?.revision), [BigInt(each - 1)])
  }
  const { position } = await again.appendToStream('s-0', events(1), { expectedRevision: BigInt(each - 1) })
  t.ok((position?.commit ?? 0n) > head)
})
