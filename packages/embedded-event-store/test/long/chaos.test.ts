// Server and Postgres are killed with kill -9 under load, again and again: what was acknowledged stays, and followers
// miss nothing.
import {
  type Chaos, eventually, killAll, type PostgresCluster, chaos, postgresCluster
} from '@ringledger/embedded-postgres/testing'
import { type EventStoreProcess, eventStoreProcess } from '../support/event-store-process.js'
import { type ResolvedEvent, START, type EventStoreDBClient } from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { collect, connect } from '../support/scratch-event-store.js'
import { type Recorded, follow, followByCheckpoints, lineOf } from '../support/followers.js'
import { isAcknowledged, loadOf } from '../support/load.js'
import type { Writing } from '../support/writers.js'

/** By their names; each resolves when everything is there again. */
function killsOf (
  server: EventStoreProcess, postgres: PostgresCluster, chaos: Chaos
): Record<string, () => Promise<void>> {
  return {
    async server () {
      await server.kill()
      await bringBack(server, chaos)
    },
    async postmaster () {
      await postgres.kill()
      await bringBack(postgres, chaos)
    },
    async 'all of Postgres' () {
      await killWhole(postgres)
      await bringBack(postgres, chaos)
    },
    async everything () {
      await Promise.all([server.kill(), killWhole(postgres)])
      await bringBack(postgres, chaos)
      await bringBack(server, chaos)
    },
    /** Then Postgres ends its other sessions too, and recovers by itself. */
    'writing session': async () => { killAll(await eventually(() => writingSessions(postgres))) }
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

async function killWhole (postgres: PostgresCluster): Promise<void> {
  const children = await eventually(() => postgres.children())
  const killed = postgres.kill()
  killAll(children)
  await killed
}

async function writingSessions (postgres: PostgresCluster): Promise<number[] | false> {
  const sessions = await postgres.children('ringledger-event-store-writer')
  return sessions.length > 0 && sessions
}

const eventsOf = (read: readonly ResolvedEvent[]) => read.flatMap(({ event }) => event ?? [])

/** Asserts that two lists are the same, in the order of the list. */
function same (t: Test, found: readonly unknown[], wanted: readonly unknown[], message: string): void {
  t.equal(firstDifference(found, wanted), 'none', message)
}

function firstDifference (found: readonly unknown[], wanted: readonly unknown[]): string {
  const longer = found.length > wanted.length ? found : wanted
  const index = longer.findIndex((_, index) => found[index] !== wanted[index])
  if (index < 0) return 'none'
  return `${index} of ${wanted.length}: found ${String(found[index])}, wanted ${String(wanted[index])}`
}

/** Every append of a stream is there once, whole, where the answer said. */
async function isWhole (
  t: Test, { client, stream, attempts }: Writing, placed: ReadonlyMap<string, Recorded>
): Promise<void> {
  const events = eventsOf(await collect(client.readStream(stream)))
  // Of an append that was given up all is there, or nothing.
  const there = attempts.filter((attempt) => isAcknowledged(attempt) || attempt.ids.some((id) => placed.has(id)))
  const ids = there.flatMap(({ ids }) => ids)
  same(t, events.map(({ id }) => id), ids, `${stream}: whole appends, each once, in order`)
  const revisions = events.map(({ revision }) => revision)
  same(t, revisions, events.map((_, index) => BigInt(index)), `${stream}: revisions without gaps`)
  const answers = attempts.filter(isAcknowledged)
  const last = answers.map(({ ids }) => placed.get(ids.at(-1) ?? ''))
  const positions = answers.map(({ answer }) => answer?.position?.commit)
  same(t, positions, last.map((event) => event?.position?.commit), `${stream}: positions as answered`)
  const expected = answers.map(({ answer }) => answer?.nextExpectedRevision)
  same(t, expected, last.map((event) => event?.revision), `${stream}: revisions as answered`)
}

const settings = chaos(t, 'event store', 150)
const { rounds, seed, timeout, pick, instant, roundIsOver } = settings

interface Follower {
  of: string
  isWanted (stream: string): boolean
  following: ReturnType<typeof follow>
}

function followersOf (client: EventStoreDBClient, port: number, stopped: AbortSignal): Follower[] {
  const until = { lastType: 'Last', stopped }
  const ofAll = (last?: Recorded) => client.subscribeToAll({ fromPosition: last?.position ?? START })
  const ofOne = (last?: Recorded) => client.subscribeToStream('writer-0', { fromRevision: last?.revision ?? START })
  return [
    { of: '$all', isWanted: () => true, following: follow(ofAll, until) },
    { of: 'a stream', isWanted: (stream) => stream === 'writer-0', following: follow(ofOne, until) },
    {
      of: 'a filter, by checkpoints,',
      isWanted: (stream) => stream.startsWith('writer-'),
      following: followByCheckpoints(port, 'writer-', until)
    }
  ]
}

/** How many appends that failed and were repeated had been written. */
function writtenBefore (insisting: readonly Writing[], placed: ReadonlyMap<string, Recorded>) {
  const repeated = insisting.flatMap(({ attempts }) => attempts).filter(({ failedAt }) => failedAt !== undefined)
  const createdAt = ([id = '']: string[]) => placed.get(id)?.created.getTime() ?? Infinity
  const written = repeated.filter(({ ids, failedAt = 0 }) => createdAt(ids) <= failedAt)
  return { repeated: repeated.length, written: written.length }
}

async function missNothing (t: Test, followers: readonly Follower[], log: readonly Recorded[]): Promise<void> {
  for (const { of, isWanted, following } of followers) {
    const { lines, tries } = await following
    const wanted = log.filter(({ streamId }) => isWanted(streamId)).map(lineOf)
    same(t, lines, wanted, `a follower of ${of} sees each event once, in order, in ${tries} tries`)
    t.ok(tries > 1 || rounds < 20, 'it was interrupted')
  }
}

const title = `nothing acknowledged is lost, doubled or out of order in ${rounds} rounds of kill -9 (CHAOS_SEED=${seed})`
t.test(title, { timeout }, async (t) => {
  const postgres = await postgresCluster(t)
  const server = await eventStoreProcess(t, postgres.url)
  const url = `esdb://127.0.0.1:${server.port}?tls=false`
  const client = connect(t, url)
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  const { insisting, writings, ...load } = loadOf(client, stopping.signal)
  const followers = followersOf(connect(t, url), server.port, stopping.signal)

  const ways = Object.entries(killsOf(server, postgres, settings))
  const taken: string[] = []
  for (let round = 0; round < rounds; round++) {
    await load.progress(50)
    await instant(100)
    const [name, kill] = pick(ways)
    await kill()
    taken.push(name)
    roundIsOver(`${load.acknowledged()} appends acknowledged`)
  }
  await load.end()

  const log = eventsOf(await collect(client.readAll()))
  const placed = new Map(log.map((event) => [event.id, event]))
  const positions = log.map(({ position }) => position?.commit ?? 0n)
  t.equal(placed.size, log.length, 'no event twice')
  same(t, positions, positions.toSorted((one, other) => Number(one - other)), 'positions grow')
  for (const writing of writings) await isWhole(t, writing, placed)
  await missNothing(t, followers, log)
  const { repeated, written } = writtenBefore(insisting, placed)
  t.comment(ways.map(([name]) => `${name}: ${taken.filter((one) => one === name).length}`).join(', '))
  t.comment(`${log.length} events; of ${repeated} appends that failed and were repeated, ${written} had been written`)
  if (rounds >= 100) t.ok(written > 0, 'some kills came between a commit and its answer')
})
