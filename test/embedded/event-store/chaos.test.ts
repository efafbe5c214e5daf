// Server and Postgres are killed with kill -9 under load, again and again: what was acknowledged stays.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { type EventStoreDBClient, jsonEvent, NO_STREAM, START, type ReadPosition } from '@eventstore/db-client'
import { collect, connect } from '../../support/scratch-event-store.js'
import { eventStoreProcess } from '../../support/event-store-process.js'
import { scratchPostgres } from '../../support/scratch-postgres.js'

const rounds = Number(process.env.CHAOS_ROUNDS ?? 20)
const seed = Number(process.env.CHAOS_SEED ?? 1)

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function random (seed: number): () => number {
  let state = seed
  return () => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Appends to a stream of its own, the same append again until it is acknowledged. */
async function write (client: EventStoreDBClient, stream: string, acknowledged: string[], isOver: (acknowledged: string[]) => boolean): Promise<void> {
  while (!isOver(acknowledged)) {
    const batch = Array.from({ length: 1 + acknowledged.length % 3 }, () => jsonEvent({ type: 'Written', data: {} }))
    const expectedRevision = acknowledged.length === 0 ? NO_STREAM : BigInt(acknowledged.length - 1)
    for (;;) {
      const isDone = await client.appendToStream(stream, batch, { expectedRevision }).then(() => true, () => false)
      if (isDone) break
      await pause(10)
    }
    acknowledged.push(...batch.map(({ id }) => id))
  }
}

/** Follows $all and, whenever that breaks, goes on after the last event that it has seen. */
async function follow (client: EventStoreDBClient, seen: string[], isOver: () => boolean): Promise<void> {
  let fromPosition: ReadPosition = START
  while (!isOver()) {
    const subscription = client.subscribeToAll({ fromPosition })
    subscription.on('error', () => {})
    try {
      for await (const { event } of subscription) {
        if (event?.type === 'Written') seen.push(event.id)
        if (event?.position !== undefined) fromPosition = event.position
        if (isOver()) break
      }
    } catch { // broken: again from where it was
      await pause(10)
    }
    await subscription.unsubscribe()
  }
}

t.test(`nothing acknowledged is lost, doubled or out of order in ${rounds} rounds of kill -9 (seed ${seed})`, { timeout: rounds * 30_000 }, async (t) => {
  const next = random(seed)
  const postgres = await scratchPostgres(t)
  const server = await eventStoreProcess(t, postgres.url)
  const client = connect(t, `esdb://127.0.0.1:${server.port}?tls=false`)
  const follower = connect(t, `esdb://127.0.0.1:${server.port}?tls=false`)
  let isWritingOver = false
  let total = Infinity // known when the last writer is done
  const acknowledged = new Map(Array.from({ length: 8 }, (_, index) => [`writer-${index}-${randomUUID()}`, [] as string[]]))
  const writers = [...acknowledged].map(([stream, ids]) => write(client, stream, ids, () => isWritingOver))
  const seen: string[] = []
  const written = () => [...acknowledged.values()].reduce((sum, ids) => sum + ids.length, 0)
  const following = follow(follower, seen, () => seen.length >= total)

  for (let round = 0; round < rounds; round++) {
    const before = written()
    while (written() < before + 20) await pause(5)
    await pause(next() * 100)
    const [killServer, killPostgres] = [[true, false], [false, true], [true, true]][Math.floor(next() * 3)] ?? []
    await Promise.all([killServer === true && server.kill(), killPostgres === true && postgres.kill()])
    if (killPostgres === true) await postgres.start()
    if (killServer === true) await server.start()
  }
  isWritingOver = true
  await Promise.all(writers)
  total = written() + 1
  await write(client, 'last', [], (acknowledged) => acknowledged.length > 0) // wakes a follower who has seen all others
  await following

  const all = await collect(client.readAll())
  const positions = all.map(({ commitPosition }) => commitPosition ?? 0n)
  t.ok(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n)), 'positions grow')
  t.same(seen, all.flatMap(({ event }) => event?.type === 'Written' ? [event.id] : []), 'the follower saw each event once, in order')
  for (const [stream, ids] of acknowledged) {
    const events = await collect(client.readStream(stream))
    t.same(events.map(({ event }) => event?.id), ids, `${ids.length} acknowledged events, each once and in order`)
    t.same(events.map(({ event }) => event?.revision), ids.map((_, index) => BigInt(index)), 'revisions without gaps')
  }
})
