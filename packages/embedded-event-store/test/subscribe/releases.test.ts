// Subscriptions as releases of EventStoreDB differ in them.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  eventTypeFilter, jsonEvent, type Position, START, type EventStoreDBClient, type ReadPosition
} from '@eventstore/db-client'
import t from 'tap'
import type { Release } from '../../src/feed/release.js'
import { scratchEventStore } from '../../src/testing/scratch-event-store.js'
import { watch } from '../support/watch.js'

const events = (count: number, type = 'Other') => Array.from({ length: count }, () => jsonEvent({ type, data: {} }))

/** The checkpoints of a catch-up by a filter of one type. */
async function checkpointsOf (client: EventStoreDBClient, fromPosition: ReadPosition, type: string): Promise<bigint[]> {
  const reached: bigint[] = []
  const checkpointReached = async (_: unknown, { commit }: Position) => { reached.push(commit) }
  const filter = eventTypeFilter({ prefixes: [type], checkpointInterval: 10, checkpointReached })
  const subscription = client.subscribeToAll({ fromPosition, filter })
  await once(subscription, 'caughtUp')
  await subscription.unsubscribe()
  return reached
}

const releases: Record<Release, (begin: bigint, wanted: bigint, head: bigint) => Record<string, bigint[]>> = {
  '24.10': (_begin, _wanted, head) => ({ fromStart: [head], fromPosition: [head], matched: [head] }),
  '24.10.4': (begin, wanted) => ({ fromStart: [2n ** 64n - 1n], fromPosition: [begin], matched: [wanted] }),
  '23.10': () => ({ fromStart: [], fromPosition: [], matched: [] })
}

for (const release of ['24.10', '24.10.4', '23.10'] as const) {
  t.test(`${release}: the checkpoint at the end of a catch-up`, async (t) => {
    const { client } = await scratchEventStore(t, { release })
    const { position: begin = { commit: 0n, prepare: 0n } } = await client.appendToStream('a', events(1))
    const { position: wanted } = await client.appendToStream('a', events(1, 'Wanted'))
    const { position: head } = await client.appendToStream('a', events(3))
    t.same({
      fromStart: await checkpointsOf(client, START, 'Nothing'),
      fromPosition: await checkpointsOf(client, begin, 'Nothing'),
      matched: await checkpointsOf(client, START, 'Wanted')
    }, releases[release](begin.commit, wanted?.commit ?? 0n, head?.commit ?? 0n))
  })
}

t.test('23.10: a stream that is missing is caught up with after its first events', async (t) => {
  const { client } = await scratchEventStore(t, { release: '23.10' })
  const stream = randomUUID()
  const { until } = watch(t, client.subscribeToStream(stream))
  await until((log) => log.includes('confirmed'))
  await client.appendToStream(stream, events(1))
  t.same(await until((log) => log.includes('caught up')), ['confirmed', '0', 'caught up'])
})

t.test('23.10: a consumer that stands still while others write is dropped', async (t) => {
  const { client } = await scratchEventStore(t, { release: '23.10' })
  const subscription = client.subscribeToAll({ fromPosition: START })
  subscription.on('data', () => {})
  await once(subscription, 'caughtUp')
  subscription.pause()
  for (let n = 0; n < 40; n++) await client.appendToStream('a', events(100))
  const dropped = once(subscription, 'error')
  subscription.resume()
  t.match(await dropped, [{ message: /Consumer too slow to handle event while live/ }])
})
