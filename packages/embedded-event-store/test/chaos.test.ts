// Server and Postgres are killed with kill -9 under load, again and again: what was acknowledged stays, and who follows misses nothing.
import t, { type Test } from 'tap'
import { jsonEvent, START, type EventStoreDBClient, type ResolvedEvent } from '@eventstore/db-client'
import { chaos } from './support/chaos.js'
import { follow, followByCheckpoints, lineOf, type Recorded } from './support/followers.js'
import { type EventStoreProcess, eventStoreProcess } from '../src/testing/event-store-process.js'
import { type Attempt, giveUp, insist, insistOn, type Writing } from './support/writers.js'
import { eventually } from './support/eventually.js'
import { killAll } from './support/kill-all.js'
import { collect, connect } from '../src/testing/scratch-event-store.js'
import { type PostgresCluster, postgresCluster } from '@ringledger/embedded-postgres/testing'

const { rounds, seed, timeout, pick, onceIn, instant, roundIsOver } = chaos(t, 'event store', 4)

/** Starts it again; now and then it is killed while it starts. */
async function bringBack (killed: Pick<EventStoreProcess, 'start' | 'kill'>): Promise<void> {
  if (onceIn(4)) {
    const starting = killed.start().catch(() => {}) // it did not come that far
    await instant(500)
    await killed.kill()
    await starting
    await killed.kill() // the first kill may have come between two of its tries
  }
  await killed.start()
}

async function killWhole (postgres: PostgresCluster): Promise<void> {
  const children = await eventually(() => postgres.children())
  const killed = postgres.kill()
  killAll(children)
  await killed
}

const kills = (server: EventStoreProcess, postgres: PostgresCluster): Record<string, () => Promise<void>> => ({
  async server () {
    await server.kill()
    await bringBack(server)
  },
  async postmaster () {
    await postgres.kill()
    await bringBack(postgres)
  },
  async 'all of Postgres' () {
    await killWhole(postgres)
    await bringBack(postgres)
  },
  async everything () {
    await Promise.all([server.kill(), killWhole(postgres)])
    await bringBack(postgres)
    await bringBack(server)
  },
  /** Then Postgres ends its other sessions too, and recovers by itself. */
  async 'writing session' () {
    killAll(await eventually(async () => {
      const sessions = await postgres.children('ringledger-event-store-writer')
      return sessions.length > 0 && sessions
    }))
  }
})

const eventsOf = (read: readonly ResolvedEvent[]) => read.flatMap(({ event }) => event ?? [])

function firstDifference (found: readonly unknown[], wanted: readonly unknown[]): string {
  const longer = found.length > wanted.length ? found : wanted
  const index = longer.findIndex((_, index) => found[index] !== wanted[index])
  return index < 0 ? 'none' : `${index} of ${wanted.length}: found ${String(found[index])}, wanted ${String(wanted[index])}`
}

function writersOf (client: EventStoreDBClient, stopped: AbortSignal) {
  const writingTo = (stream: string): Writing => ({ client, stream, attempts: [], stopped })
  const last = writingTo('writer-0')
  const insisting = [last, ...Array.from({ length: 23 }, (_, index) => writingTo(`writer-${index + 1}`))]
  const givingUp = Array.from({ length: 4 }, (_, index) => writingTo(`giver-${index}`))
  const writings = [...insisting, ...givingUp]
  const acknowledged = () => writings.reduce((sum, { attempts }) => sum + attempts.filter(isAcknowledged).length, 0)
  let isOver = false
  const written = Promise.all([...insisting.map((writing) => insist(writing, () => isOver)), ...givingUp.map((writing) => giveUp(writing, () => isOver))])
  written.catch(() => {}) // told in the next round
  return {
    insisting,
    writings,
    acknowledged,
    /** Resolves when so many more are acknowledged. */
    async progress (count: number) {
      const wanted = acknowledged() + count
      await Promise.race([written, eventually(() => acknowledged() >= wanted, 60_000)])
    },
    async end () {
      isOver = true
      await written
      await insistOn(last, [jsonEvent({ type: 'Last', data: {} })])
    }
  }
}

function followersOf (client: EventStoreDBClient, port: number, stopped: AbortSignal) {
  const until = { lastType: 'Last', stopped }
  return [
    { of: '$all', isWanted: () => true, following: follow((last) => client.subscribeToAll({ fromPosition: last?.position ?? START }), until) },
    { of: 'a stream', isWanted: (stream: string) => stream === 'writer-0', following: follow((last) => client.subscribeToStream('writer-0', { fromRevision: last?.revision ?? START }), until) },
    { of: 'a filter, by checkpoints,', isWanted: (stream: string) => stream.startsWith('writer-'), following: followByCheckpoints(port, 'writer-', until) }
  ]
}

const isAcknowledged = ({ answer }: Attempt) => answer !== undefined

/** Every append of a stream is there once, whole, where the answer said. */
async function isWhole (t: Test, { client, stream, attempts }: Writing, placed: ReadonlyMap<string, Recorded>): Promise<void> {
  const events = eventsOf(await collect(client.readStream(stream)))
  // Of an append that was given up all is there, or nothing.
  const there = attempts.filter((attempt) => isAcknowledged(attempt) || attempt.ids.some((id) => placed.has(id)))
  t.equal(firstDifference(events.map(({ id }) => id), there.flatMap(({ ids }) => ids)), 'none', `${stream}: whole appends, each once, in order`)
  t.equal(firstDifference(events.map(({ revision }) => revision), events.map((_, index) => BigInt(index))), 'none', `${stream}: revisions without gaps`)
  const places = attempts.filter(isAcknowledged).map(({ ids, answer }) => ({ answer, event: placed.get(ids.at(-1) ?? '') }))
  t.equal(firstDifference(places.map(({ answer }) => answer?.position?.commit), places.map(({ event }) => event?.position?.commit)), 'none', `${stream}: positions as answered`)
  t.equal(firstDifference(places.map(({ answer }) => answer?.nextExpectedRevision), places.map(({ event }) => event?.revision)), 'none', `${stream}: revisions as answered`)
}

t.test(`nothing acknowledged is lost, doubled or out of order in ${rounds} rounds of kill -9 (CHAOS_SEED=${seed})`, { timeout }, async (t) => {
  const postgres = await postgresCluster(t)
  const server = await eventStoreProcess(t, postgres.url)
  const url = `esdb://127.0.0.1:${server.port}?tls=false`
  const client = connect(t, url)
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  const { insisting, writings, ...writers } = writersOf(client, stopping.signal)
  const followers = followersOf(connect(t, url), server.port, stopping.signal)

  const ways = Object.entries(kills(server, postgres))
  const taken: string[] = []
  for (let round = 0; round < rounds; round++) {
    await writers.progress(50)
    await instant(100)
    const [name, kill] = pick(ways)
    await kill()
    taken.push(name)
    roundIsOver(`${writers.acknowledged()} appends acknowledged`)
  }
  await writers.end()

  const log = eventsOf(await collect(client.readAll()))
  const placed = new Map(log.map((event) => [event.id, event]))
  const positions = log.map(({ position }) => position?.commit ?? 0n)
  t.equal(placed.size, log.length, 'no event twice')
  t.equal(firstDifference(positions, positions.toSorted((one, other) => Number(one - other))), 'none', 'positions grow')
  for (const writing of writings) await isWhole(t, writing, placed)
  for (const { of, isWanted, following } of followers) {
    const { lines, tries } = await following
    t.equal(firstDifference(lines, log.filter(({ streamId }) => isWanted(streamId)).map(lineOf)), 'none', `who follows ${of} sees each event once, in order, in ${tries} tries`)
    t.ok(tries > 1 || rounds < 20, 'it was interrupted')
  }
  const repeated = insisting.flatMap(({ attempts }) => attempts).filter(({ failedAt }) => failedAt !== undefined)
  const durable = repeated.filter(({ ids, failedAt = 0 }) => (placed.get(ids[0] ?? '')?.created.getTime() ?? Infinity) <= failedAt)
  t.comment(ways.map(([name]) => `${name}: ${taken.filter((one) => one === name).length}`).join(', '))
  t.comment(`${log.length} events; of ${repeated.length} appends that failed and were repeated, ${durable.length} had been written`)
  if (rounds >= 100) t.ok(durable.length > 0, 'some kills came between a commit and its answer')
})
