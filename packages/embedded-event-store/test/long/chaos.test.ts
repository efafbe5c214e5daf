// Server and Postgres are killed with kill -9 under load, again and again: what was acknowledged stays, and followers
// miss nothing.
import { setTimeout as delay } from 'node:timers/promises'
import {
  type AllStreamSubscription, type AppendResult, type EventStoreDBClient, jsonEvent, NO_STREAM, type ReadPosition,
  type ResolvedEvent, START, streamNameFilter
} from '@eventstore/db-client'
import {
  type Chaos, chaos, eventually, killAll, type PostgresCluster, postgresCluster
} from '@ringledger/embedded-postgres/testing'
import t, { type Test } from 'tap'
import { type EventStoreProcess, eventStoreProcess } from '../support/event-store-process.js'
import { collect, connect } from '../support/scratch-event-store.js'

type Recorded = NonNullable<ResolvedEvent['event']>
/** An append: the ids of its events, and what it was answered. */
interface Appended { ids: string[], answer: AppendResult }

/** By their names; each resolves when everything is there again. */
function killsOf (
  server: EventStoreProcess, postgres: PostgresCluster, chaos: Chaos
): Record<string, () => Promise<void>> {
  const killWhole = async () => {
    const children = await eventually(() => postgres.children())
    const killed = postgres.kill()
    killAll(children)
    await killed
  }
  return {
    async server () {
      await server.kill()
      await bringBack(server, chaos)
    },
    async postmaster () {
      await postgres.kill()
      await bringBack(postgres, chaos)
    },
    async everything () {
      await Promise.all([server.kill(), killWhole()])
      await bringBack(postgres, chaos)
      await bringBack(server, chaos)
    },
    /** Then Postgres ends its other sessions too, and recovers by itself. */
    async 'writing session' () {
      killAll(await eventually(async () => {
        const sessions = await postgres.children('ringledger-event-store-writer')
        return sessions.length > 0 && sessions
      }))
    }
  }
}

/** Starts it again; now and then it is killed while it starts. */
async function bringBack (killed: Pick<EventStoreProcess, 'start' | 'kill'>, { onceIn, instant }: Chaos): Promise<void> {
  if (onceIn(4)) {
    const starting = killed.start().catch(() => {}) // it did not come that far
    await instant(500)
    await killed.kill()
    await starting
    await killed.kill() // the first kill may have come between two of its tries
  }
  await killed.start()
}

/** Appends 1 to 3 events after those before, the same ones again until they are acknowledged, and so on. */
async function write (
  client: EventStoreDBClient, stream: string, appended: Appended[], isOver: () => boolean
): Promise<void> {
  while (!isOver()) {
    const expectedRevision = appended.at(-1)?.answer.nextExpectedRevision ?? NO_STREAM
    const events = Array.from({ length: 1 + appended.length % 3 }, () => jsonEvent({ type: 'Written', data: {} }))
    const answer = await eventually(async () => {
      // The client may wait without end for a server that is gone.
      const late = delay(15_000, false as const, { ref: false })
      return await Promise.race([client.appendToStream(stream, events, { expectedRevision }), late])
    }, 120_000, 5)
    appended.push({ ids: events.map(({ id }) => id), answer })
  }
}

/** Follows and, whenever that breaks, goes on after the last event that it has seen. */
async function follow (open: (last: Recorded | undefined) => AllStreamSubscription): Promise<string[]> {
  const seen: Recorded[] = []
  for (; ; await delay(5)) {
    const subscription = open(seen.at(-1))
    subscription.on('error', () => {})
    try {
      for await (const { event } of subscription) {
        if (event === undefined) continue
        seen.push(event)
        if (event.type === 'Last') return seen.map(lineOf)
      }
    } catch { // broken: again from where it was
    } finally {
      await subscription.unsubscribe()
    }
  }
}

const lineOf = ({ position, streamId, revision, id }: Recorded) => `${position?.commit} ${revision}@${streamId} ${id}`

/** Every append of a stream is there once, whole, where the answer said. */
function isWhole (t: Test, stream: string, appended: readonly Appended[], log: readonly Recorded[]): void {
  const events = log.filter(({ streamId }) => streamId === stream)
  t.strictSame(events.map(({ id }) => id), appended.flatMap(({ ids }) => ids), `${stream}: each once, in order`)
  t.strictSame(events.map(({ revision }) => revision), events.map((_, index) => BigInt(index)), `${stream}: revisions`)
  const placed = new Map(events.map((event) => [event.id, event]))
  const last = appended.map(({ ids }) => placed.get(ids.at(-1) ?? ''))
  const answered = appended.map(({ answer }) => [answer.nextExpectedRevision, answer.position?.commit])
  t.strictSame(answered, last.map((event) => [event?.revision, event?.position?.commit]), `${stream}: as answered`)
}

const settings = chaos(t, 'event store', 150)
const { rounds, seed, timeout, pick, instant, roundIsOver } = settings
const title = `nothing acknowledged is lost, doubled or out of order in ${rounds} rounds of kill -9 (CHAOS_SEED=${seed})`

t.test(title, { timeout }, async (t) => {
  const postgres = await postgresCluster(t)
  const server = await eventStoreProcess(t, postgres.url)
  const url = `esdb://127.0.0.1:${server.port}?tls=false`
  const [client, reader] = [connect(t, url), connect(t, url)]
  const streams = Array.from({ length: 24 }, (_, index) => ({ name: `writer-${index}`, appended: [] as Appended[] }))
  const acknowledged = () => streams.reduce((sum, { appended }) => sum + appended.length, 0)
  let isOver = false
  const written = Promise.all(streams.map(({ name, appended }) => write(client, name, appended, () => isOver)))
  written.catch(() => {}) // told in the next round
  const from = (last?: Recorded): { fromPosition: ReadPosition } => ({ fromPosition: last?.position ?? START })
  const ofAll = follow((last) => reader.subscribeToAll(from(last)))
  const filter = streamNameFilter({ prefixes: ['writer-1'] })
  const ofSome = follow((last) => reader.subscribeToAll({ ...from(last), filter }))

  const ways = Object.values(killsOf(server, postgres, settings))
  for (let round = 0; round < rounds; round++) {
    const wanted = acknowledged() + 50
    await Promise.race([written, eventually(() => acknowledged() >= wanted, 60_000)])
    await instant(100)
    await pick(ways)()
    roundIsOver(`${acknowledged()} appends acknowledged`)
  }
  isOver = true
  await written
  await eventually(() => client.appendToStream('writer-1-last', jsonEvent({ type: 'Last', data: {} })).catch(() => false as const))

  const log = (await collect(client.readAll())).flatMap(({ event }) => event ?? [])
  const positions = log.map(({ position }) => position?.commit ?? 0n)
  t.strictSame(positions, positions.toSorted((one, other) => Number(one - other)), 'positions grow')
  for (const { name, appended } of streams) isWhole(t, name, appended, log)
  t.strictSame(await ofAll, log.map(lineOf), 'a follower of $all sees each event once, in order')
  const some = log.filter(({ streamId }) => streamId.startsWith('writer-1'))
  t.strictSame(await ofSome, some.map(lineOf), 'and so does one with a filter')
})
