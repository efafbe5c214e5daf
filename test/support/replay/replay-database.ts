// A database in which projections are replayed while others write, project and read.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { ensureProjections, generationsOf } from '../../../projections/generations/generations.js'
import { positionsOf } from '../projections/position-rig.js'
import type { Projection } from '../../../projections/engine/projection.js'
import type { BuildOptions } from '../../../projections/replay/build.js'
import type { Streams } from '../../../src/log/event-log.js'
import { keepingLog, scratchLedger } from '../postgres/ledger.js'
import { projections } from '../../../projections/index.js'
import type { ScratchPostgres } from '../back-ends/scratch-postgres.js'
import { watchedPool, type Watching } from '../postgres/statements.js'
import type { Teardown } from '../teardown.js'
import { notificationsOf } from '../postgres/notifications.js'

export interface DatabaseOptions {
  /** The cluster that it is in, when it is another one. */
  postgres?: ScratchPostgres
  /** Other streams than those of the rig. */
  streams?: Streams
  /** Told of every statement of projectors and replays. */
  watching?: Watching
  /** Where the log ends while the read models are made: beyond 0 they have to be filled from it. */
  head?: bigint
}

export interface ReplayDatabase {
  databaseUrl: string
  pool: Pool
  /** Projects live, until stopped or the test ends. */
  project (t: Teardown, ...live: Projection[]): { stop (): Promise<void> }
  /** Resolves when readers see the position. */
  reached (projection: Projection, position: bigint): Promise<void>
  /** What readers of the projection are past; nothing while it is filled. */
  passed (projection: Projection): Promise<bigint | undefined>
  /** For replays and their like; `said` is the output for people. */
  options (given?: Partial<BuildOptions>): BuildOptions & { said: string[] }
  /** Expires them at once; by themselves they expire four seconds after their owners have died. */
  expireLeases (): Promise<unknown>
  /** The generations there are, as `2 active`. */
  generations (projection: Projection): Promise<string[]>
}

/** So that projectors see soon which generations there are. */
export const checkEveryMs = 50

/** A migrated database with empty read models. */
export async function replayDatabase (
  t: Teardown, { postgres, streams, watching, head }: Required<DatabaseOptions>
): Promise<ReplayDatabase> {
  const { databaseUrl, pool } = await scratchLedger(t, postgres)
  const watched = watchedPool(pool, watching)
  await ensureProjections(pool, projections, async () => head === 0n)
  const positions = positionsOf(t, notificationsOf(t, databaseUrl), pool)
  return {
    databaseUrl,
    pool,
    project: (t, ...live) => project(t, live, { pool: watched, streams }),
    async reached ({ name }, position) {
      if (!await positions.reached(name, position, 60_000)) throw new Error(`${name} did not reach ${position}`)
    },
    passed: ({ name }) => positions.passed(name),
    options: (given = {}) => ({ ...replayOptions(watched, streams), ...given }),
    expireLeases: () => pool.query("UPDATE ledger.leases SET expires_at = '-infinity'"),
    async generations (projection) {
      return (await generationsOf(pool, projection)).map(({ generation, state }) => `${generation} ${state}`)
    }
  }
}

function project (t: Teardown, live: Projection[], on: { pool: Pool, streams: Streams }) {
  const stopping = new AbortController()
  const holder = `projector ${randomUUID()}`
  const options = { ...on, holder, signal: stopping.signal, log: keepingLog(), checkEveryMs }
  const running = live.map((projection) => feedGenerations(projection, options))
  const stop = async () => {
    stopping.abort()
    await Promise.all(running)
  }
  t.teardown(stop)
  return { stop }
}

function replayOptions (pool: Pool, streams: Streams): BuildOptions & { said: string[] } {
  const said: string[] = []
  const say = (line: string) => { said.push(line) }
  const { signal } = new AbortController()
  const holder = `replay ${randomUUID()}`
  return { pool, consumerPool: pool, streams, holder, signal, log: keepingLog(), say, said, checkEveryMs }
}
