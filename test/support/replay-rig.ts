// A log and a database in which projections are replayed while others write, project and read.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { feedGenerations } from '../../projections/engine/feed.js'
import { ensureProjections, generationsOf, type State } from '../../projections/replay/generations.js'
import { listenForPositions } from '../../projections/engine/positions/positions.js'
import type { Projection } from '../../projections/engine/projection.js'
import type { BuildOptions } from '../../projections/replay/build.js'
import { noStream, openStreams, type Streams } from '../../src/event-store/streams.js'
import { assistantCreated, assistantUpdated, callCompleted, leadCreated, proposed, type Told } from './call-events.js'
import { keepingLog, scratchLedger } from './ledger.js'
import { everyProjection } from './projected.js'
import { eventStoreOn, scratchEventStore } from './scratch-event-store.js'
import type { ScratchPostgres } from './scratch-postgres.js'
import { watchedPool, type Watching } from './statements.js'
import type { Teardown } from './teardown.js'

export interface ReplayRig {
  postgres: ScratchPostgres
  eventStoreUrl: string
  streams: Streams
  /** Stops the event store, and starts it again at the same place. */
  restartEventStore (): Promise<void>
  /** Appends events to their streams, and answers the position of the last one. */
  append (told: Told[]): Promise<bigint>
  /** A migrated database of its own, with empty read models. */
  database (t: Teardown, given?: DatabaseOptions): Promise<ReplayDatabase>
}

export interface DatabaseOptions {
  /** The cluster that it is in, when it is another one. */
  postgres?: ScratchPostgres
  /** Other streams than those of the rig. */
  streams?: Streams
  /** Told of every statement of projectors and replays. */
  watching?: Watching
}

export interface ReplayDatabase {
  databaseUrl: string
  pool: Pool
  /** Projects live, until stopped or the test ends. */
  project (t: Teardown, ...live: Projection[]): { stop (): Promise<void> }
  /** Resolves when readers see the position. */
  reached (projection: Projection, position: bigint): Promise<void>
  /** For replays and their like; `said` is what people were told. */
  options (given?: Partial<BuildOptions>): BuildOptions & { said: string[] }
  /** As by themselves four seconds after their owners have died. */
  expireLeases (): Promise<unknown>
  /** The generations there are, as `2 active`. */
  generations (projection: Projection): Promise<string[]>
}

/** On back ends of its own, or on those given. */
export async function replayRig (t: Teardown, given: Parameters<typeof scratchEventStore>[1] = {}): Promise<ReplayRig> {
  const { postgres, store, client } = await scratchEventStore(t, given)
  const streams = openStreams(client)
  const revisions = new Map<string, bigint>()
  return {
    postgres,
    eventStoreUrl: store.url,
    streams,
    async restartEventStore () {
      await store.close()
      const again = await eventStoreOn(postgres.url, store.port)
      t.teardown(() => again.close())
    },
    async append (told) {
      let position = 0n
      for (const each of told) {
        const { stream } = each
        const appended = await streams.append(stream, [proposed(each)], revisions.get(stream) ?? noStream)
        revisions.set(stream, appended.revision)
        position = appended.position
      }
      return position
    },
    database: (t, given) => database(t, { postgres, streams, watching: {}, ...given })
  }
}

/** So that projectors see soon which generations there are. */
export const checkEveryMs = 50

async function database (t: Teardown, { postgres, streams, watching }: Required<DatabaseOptions>): Promise<ReplayDatabase> {
  const { databaseUrl, pool } = await scratchLedger(t, postgres)
  const watched = watchedPool(pool, watching)
  await ensureProjections(pool, everyProjection)
  const positions = listenForPositions(databaseUrl, pool, () => {})
  t.teardown(() => positions.close())
  return {
    databaseUrl,
    pool,
    project (t, ...live) {
      const stopping = new AbortController()
      const options = { pool: watched, streams, holder: `projector ${randomUUID()}`, signal: stopping.signal, log: keepingLog(), checkEveryMs }
      const running = live.map((projection) => feedGenerations(projection, options))
      const stop = async () => { stopping.abort(); await Promise.all(running) }
      t.teardown(stop)
      return { stop }
    },
    async reached (projection, position) {
      if (!await positions.reached(projection.name, position, 15_000)) throw new Error(`${projection.name} did not reach ${position}`)
    },
    options (given = {}) {
      const said: string[] = []
      const say = (line: string) => { said.push(line) }
      const holder = `replay ${randomUUID()}`
      const { signal } = new AbortController()
      return { pool: watched, consumerPool: watched, streams, holder, signal, log: keepingLog(), say, said, checkEveryMs, ...given }
    },
    expireLeases: () => pool.query("UPDATE ledger.leases SET expires_at = '-infinity'"),
    async generations (projection) {
      return (await generationsOf(pool, projection)).map(({ generation, state }: { generation: number, state: State }) => `${generation} ${state}`)
    }
  }
}

/** Two updates, a lead with a contact and a call of each of `count` assistants, with ids from `first` on. */
export function history (count: number, first = 0): Told[] {
  return Array.from({ length: count }, (_, place): Told[] => {
    const [index, user] = [first + place, String(place % 3)]
    return [
      assistantCreated(index + 1, {}, user),
      assistantUpdated(index + 1, { assistant_name: `Name ${index}`, variables: { b: 1, a: index } }, user),
      leadCreated(index * 10 + 10, 10, [index * 10 + 11], user),
      callCompleted(`c${index}`, { assistant_id: index + 1, lead_id: index * 10 + 10 + index % 2 })
    ]
  }).flat()
}
