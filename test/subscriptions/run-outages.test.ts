// A consumer misses nothing and handles nothing twice, while its event store comes and goes.
import t from 'tap'
import { EventLog } from '../../src/log/event-log.js'
import { consuming } from './consuming.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { connectionTo, eventStoreOn } from '../support/back-ends/scratch-event-store.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'

const { pool, postgres } = await scratchLedger(t)
let store = await eventStoreOn(postgres.url)
t.teardown(() => store.close())
const proxy = await tcpProxy(t, store.port)
const streams = new EventLog(connectionTo(t, `esdb://127.0.0.1:${proxy.port}?tls=false`))
const { append, consume } = consuming(pool, streams)

async function restartStore (): Promise<void> {
  await store.close()
  proxy.cut()
  store = await eventStoreOn(postgres.url)
  proxy.leadTo(store.port)
}

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
