// Server and Postgres are killed with kill -9 under load, again and again: what was acknowledged stays, and followers
// miss nothing.
import { START, type EventStoreDBClient } from '@eventstore/db-client'
import { chaos, postgresCluster } from '@ringledger/embedded-postgres/testing'
import t, { type Test } from 'tap'
import { eventStoreProcess } from '../support/event-store-process.js'
import { collect, connect } from '../support/scratch-event-store.js'
import { follow, followByCheckpoints, lineOf, type Recorded } from '../support/followers.js'
import { killsOf, eventsOf, isWhole, same } from '../support/kills.js'
import { loadOf } from '../support/load.js'
import type { Writing } from '../support/writers.js'

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
