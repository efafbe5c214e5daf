// One way through: append, read, subscribe, with the official client, and the process around it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { excludeSystemEvents, jsonEvent, START } from '@eventstore/db-client'
import { eventStoreEntry } from '../src/testing/event-store-process.js'
import { connect, scratchEventStore } from '../src/testing/scratch-event-store.js'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'

t.test('what is appended is read back, and reaches a subscriber in order', async (t) => {
  const { client } = await scratchEventStore(t)
  const [first, second] = [jsonEvent({ type: 'A', data: { x: 1 } }), jsonEvent({ type: 'B', data: { y: 'ü' }, metadata: { m: 'é' } })]
  const result = await client.appendToStream('a-1', [first, second])
  t.match(result, { success: true, nextExpectedRevision: 1n })

  const read = []
  for await (const { event } of client.readStream('a-1')) read.push(event)
  t.match(read, [
    { id: first.id, streamId: 'a-1', revision: 0n, type: 'A', data: { x: 1 }, isJson: true },
    { id: second.id, streamId: 'a-1', revision: 1n, type: 'B', data: { y: 'ü' }, metadata: { m: 'é' }, position: result.position }
  ])

  const subscription = client.subscribeToAll({ fromPosition: START, filter: excludeSystemEvents() })
  const seen: string[] = []
  for await (const { event } of subscription) {
    seen.push(`${event?.streamId} ${event?.revision}`)
    if (seen.length === 2) await client.appendToStream('a-2', jsonEvent({ type: 'A', data: {} }))
    if (seen.length === 3) break
  }
  await subscription.unsubscribe()
  t.same(seen, ['a-1 0', 'a-1 1', 'a-2 0'])
})

t.test('as a process of its own it says where it listens, serves, and goes when its stdin closes', async (t) => {
  const postgres = await scratchPostgres(t)
  const child = spawn(process.execPath, [eventStoreEntry, '--port', '0'], {
    env: { ...process.env, DATABASE_URL: postgres.url, RINGLEDGER_STOP_ON_STDIN_CLOSE: '1' }, stdio: ['pipe', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data') as [Buffer]
  const port = /^LISTENING (\d+)\n$/.exec(line.toString())?.[1]
  t.ok(port)
  await connect(t, `esdb://127.0.0.1:${port}?tls=false`).appendToStream('a', jsonEvent({ type: 'A', data: {} }))
  t.equal((await fetch(`http://127.0.0.1:${port}/health/live`)).status, 204)
  child.stdin.end()
  t.same(await once(child, 'exit'), [0, null])
})
