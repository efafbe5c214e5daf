// A consumer misses nothing and handles nothing twice, also after errors of its own.
import type { AllStreamResolvedEvent } from '@eventstore/db-client'
import t from 'tap'
import { OtherLog } from '../../src/log/errors.js'
import { EventLog } from '../../src/log/event-log.js'
import { consuming } from './consuming.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { pool, postgres } = await scratchLedger(t)
const { connection } = await scratchEventStore(t, { postgres })
const streams = new EventLog(connection)
const { append, consume } = consuming(pool, streams)

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

t.test('a consumer that fails backs off alone, and others go on', async (t) => {
  await append('Ailing', 1)
  const ailing = await consume(t, 'Ailing', async () => { throw new Error('never') })
  const other = await consume(t, 'Others')
  const wanted: string[] = []
  const stops = () => ailing.log.lines.filter(({ message }) => message.startsWith('consumer stopped'))
  for (let nth = 1; nth <= 3; nth += 1) {
    await eventually(() => stops().length >= nth)
    wanted.push(...await append('Others', 1))
    await eventually(async () => (await other.ids()).length === nth)
  }
  t.match(stops().map(({ details }) => details), [100, 200, 400].map((retryInMs) => ({ retryInMs })))
  t.strictSame(await other.ids(), wanted)
  t.strictSame(other.log.lines.filter(({ message }) => message.startsWith('consumer stopped')), [])
  t.strictSame(await ailing.ids(), [])
})

t.test('nothing is fed from a log that has another event where the last one was taken', async (t) => {
  const wanted = await append('Moved', 2)
  const first = await consume(t, 'Moved')
  await eventually(async () => (await first.ids()).length === 2)
  await first.stop()
  await pool.query(`UPDATE ${first.table} SET event_id = gen_random_uuid()`)
  await append('Moved', 1)
  const again = await consume(t, 'Moved')
  await eventually(() => again.log.lines.some(({ message, details }) =>
    /an operator is needed/.test(message) && 'err' in details && details.err instanceof OtherLog))
  t.strictSame(await again.ids(), wanted)
})

t.test('a stop lets the batch in hand finish', async (t) => {
  const [wanted] = await append('Stopped', 1)
  let isHandling = false
  let finish = () => {}
  const finished = new Promise<void>((resolve) => { finish = resolve })
  const { ids, stop } = await consume(t, 'Stopped', async () => {
    isHandling = true
    await finished
  })
  await eventually(() => isHandling)
  const stopped = stop()
  finish()
  await stopped
  t.strictSame(await ids(), [wanted])
})

t.test('an event that the store delivers again is handled once', async (t) => {
  const { client } = connection.session
  const subscribe = client.subscribeToAll.bind(client)
  t.teardown(() => Object.assign(client, { subscribeToAll: subscribe }))
  Object.assign(client, {
    subscribeToAll (...given: Parameters<typeof subscribe>) {
      const subscription = subscribe(...given)
      const delivered = new Set<AllStreamResolvedEvent>()
      return subscription.on('data', (event) => {
        if (delivered.has(event)) return
        for (const each of delivered.add(event)) subscription.emit('data', each)
      })
    }
  })
  const { ids, log } = await consume(t, 'Twice')
  const wanted = await append('Twice', 10)
  await eventually(async () => (await ids()).length >= wanted.length)
  wanted.push(...await append('Twice', 5))
  await eventually(async () => (await ids()).length >= wanted.length)
  t.strictSame(await ids(), wanted)
  t.strictSame(log.lines.filter(({ message }) => message.startsWith('consumer stopped')), [])
})
