// What a caller of an event store does, measured through the official client.
import { randomUUID } from 'node:crypto'
import { type AppendResult, END, type EventStoreDBClient, jsonEvent, NO_STREAM, START } from '@eventstore/db-client'

export interface Rate {
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
}

/** About what an update of an assistant weighs: 300 bytes of data, 250 of metadata. */
export function event (id = randomUUID()) {
  return jsonEvent({
    id,
    type: 'BenchHappened', // that no projection reads
    data: {
      assistant_id: 4711,
      user_id: '1',
      changes: { initial_message: 'x'.repeat(200), llm_temperature: 0.4 },
      updated_at: '2026-01-01T00:00:00.000Z'
    },
    metadata: { $correlationId: randomUUID(), $causationId: id, command_id: id, user_id: '1', schema_version: '1' }
  })
}

/**
 * Appends one event at a time to each of `inFlight` streams, at exact revisions, until `endAt`.
 * @param beginAt both in milliseconds since 1970: what is sent earlier warms up
 * @returns how long each took, in milliseconds
 */
export async function appendUntil (
  client: EventStoreDBClient, inFlight: number, beginAt: number, endAt: number
): Promise<number[]> {
  const latencies: number[] = []
  await Promise.all(Array.from({ length: inFlight }, async () => {
    const stream = `bench-${randomUUID()}`
    let revision: bigint | typeof NO_STREAM = NO_STREAM
    while (Date.now() < endAt) {
      const isMeasured = Date.now() >= beginAt
      const sentAt = performance.now()
      const appended: AppendResult = await client.appendToStream(stream, event(), { expectedRevision: revision })
      revision = appended.nextExpectedRevision
      if (isMeasured) latencies.push(performance.now() - sentAt)
    }
  }))
  return latencies
}

/** Appends so many events as fast as it goes, 100 an append. */
export async function fill (client: EventStoreDBClient, count: number): Promise<void> {
  for (let filled = 0; filled < count; filled += 100) {
    await client.appendToStream(`filled-${filled % 10_000}`, Array.from({ length: 100 }, () => event()))
  }
}

/** Reads the first `count` events of $all. @returns events a second */
export async function reads (client: EventStoreDBClient, count: number): Promise<number> {
  const startedAt = performance.now()
  let seen = 0
  for await (const { event } of client.readAll({ fromPosition: START, maxCount: count })) if (event) seen++
  if (seen !== count) throw new Error(`${seen} of ${count} events were read`)
  return seen / (performance.now() - startedAt) * 1_000
}

/** From the call of an append to its event at a subscriber of $all, one at a time. @returns milliseconds */
export async function latencies (client: EventStoreDBClient, count: number): Promise<number[]> {
  const arrivals = new Map<string, () => void>()
  const subscription = client.subscribeToAll({ fromPosition: END })
  subscription.on('data', ({ event }) => { if (event) arrivals.get(event.id)?.() })
  await new Promise((resolve, reject) => { subscription.once('caughtUp', resolve).once('error', reject) })
  const measured: number[] = []
  for (let n = 0; n < count; n++) {
    const id = randomUUID()
    const arrived = new Promise<void>((resolve) => { arrivals.set(id, resolve) })
    const sentAt = performance.now()
    await Promise.all([client.appendToStream(`bench-latency-${n % 10}`, event(id)), arrived])
    measured.push(performance.now() - sentAt)
    arrivals.delete(id)
  }
  await subscription.unsubscribe()
  return measured
}

/** Writes `count` events while `subscribers` follow $all, the first of which reads nothing. */
export async function crowd (client: EventStoreDBClient, subscribers: number, count: number): Promise<void> {
  const subscriptions = Array.from({ length: subscribers }, () => client.subscribeToAll({ fromPosition: END }))
  const [stopped, ...reading] = subscriptions
  await Promise.all(subscriptions.map((each) => new Promise((resolve, reject) => {
    each.once('caughtUp', resolve).once('error', reject)
  })))
  stopped?.pause()
  const all = reading.map((subscription) => new Promise<void>((resolve) => {
    let seen = 0
    subscription.on('data', () => { if (++seen === count) resolve() })
  }))
  await fill(client, count)
  await Promise.all(all)
  await Promise.all(subscriptions.map((each) => each.unsubscribe()))
}
