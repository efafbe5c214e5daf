// A log and databases in which projections are replayed while others write, project and read.
import { openSealing } from '../../../src/services/connections.js'
import { EventLog, type Streams } from '../../../src/log/event-log.js'
import { keySettings } from '../auth/secrets.js'
import { appender } from '../events/appender.js'
import { assistantCreated, assistantUpdated, callCompleted, leadCreated, type Told } from '../events/call-events.js'
import { scratchEventStore } from '../back-ends/scratch-event-store.js'
import { scratchLedger, keepingLog, notificationsOf } from '../postgres/ledger.js'
import type { Teardown } from '../teardown.js'
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { feedGenerations } from '../../../projections/engine/feed.js'
import { ensureProjections, generationsOf } from '../../../projections/engine/generations.js'
import { positionsOf } from '../projections/position-rig.js'
import type { Projection } from '../../../projections/engine/projection.js'
import type { BuildOptions } from '../../../projections/engine/replay.js'
import { projections } from '../../../projections/index.js'
import { watchedPool, type Watching } from '../postgres/statements.js'
import { mainProcess } from '../ringledger.js'

export type ReplayDatabase = Awaited<ReturnType<typeof replayDatabase>>

/** `isSealed`: seals persons, for processes of the service, which accept no plain ones. */
type RigOptions = Parameters<typeof scratchEventStore>[1] & { isSealed?: boolean }

export async function replayRig (t: Teardown, given: RigOptions = {}) {
  const { postgres, store, connection } = await scratchEventStore(t, given)
  const raw = new EventLog(connection, { shared: { eventTypes: projections.flatMap(({ eventTypes }) => eventTypes) } })
  const streams = given.isSealed ? await sealed(t, raw) : raw
  const append = appender(streams)
  return {
    postgres,
    eventStoreUrl: store.url,
    streams,
    /** Returns the position of the last event. */
    append: (told: Told[]) => append(...told),
    /** A migrated database of its own, with empty read models. */
    database: (t: Teardown, given?: DatabaseOptions) => replayDatabase(t, streams, given)
  }
}

async function sealed (t: Teardown, raw: EventLog): Promise<Streams> {
  const { pool } = await scratchLedger(t)
  return openSealing(raw, pool, keySettings).streams
}

/** For `count` assistants with ids from `first` on: two events, a lead with a contact, and a call. */
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

interface DatabaseOptions {
  /** Gets every statement of projectors and replays. */
  watching?: Watching
  /** Where the log ends when the read models are made; above 0, a first fill must run. */
  head?: bigint
}

/** Short, so that projectors notice new generations soon. */
export const checkEveryMs = 50

/** A migrated database with empty read models. */
async function replayDatabase (t: Teardown, streams: Streams, { watching = {}, head = 0n }: DatabaseOptions = {}) {
  const { databaseUrl, pool } = await scratchLedger(t)
  const watched = watchedPool(pool, watching)
  await ensureProjections(pool, projections, async () => head)
  const positions = positionsOf(t, notificationsOf(t, databaseUrl), pool)
  return {
    databaseUrl,
    pool,
    /** Projects live, until stopped or the test ends. */
    project: (t: Teardown, ...live: Projection[]) => project(t, live, { pool: watched, streams }),
    /** Resolves when readers see the position. */
    async reached ({ name }: Projection, position: bigint) {
      if (!await positions.reached(name, position, 60_000)) throw new Error(`${name} did not reach ${position}`)
    },
    /** The position that readers have passed; nothing during the first fill. */
    passed: ({ name }: Projection) => positions.passed(name),
    /** For replays and their like; `said` is the output for people. */
    options: (given: Partial<BuildOptions> = {}) => ({ ...replayOptions(watched, streams), ...given }),
    /** Without this, they expire four seconds after their owners have died. */
    expireLeases: () => pool.query("UPDATE ledger.leases SET expires_at = '-infinity'"),
    /** The generations, for instance `2 active`. */
    async generations (projection: Projection) {
      return (await generationsOf(pool, projection)).map(({ generation, state }) => `${generation} ${state}`)
    }
  }
}

function project (t: Teardown, live: Projection[], on: { pool: Pool, streams: Streams }) {
  const stopping = new AbortController()
  const holder = `projector ${randomUUID()}`
  const log = keepingLog()
  const options = { ...on, holder, signal: stopping.signal, log, checkEveryMs }
  const running = feedGenerations(live, options)
  const stop = async () => {
    stopping.abort()
    await running
  }
  t.teardown(stop)
  return { stop, log }
}

function replayOptions (pool: Pool, streams: Streams): BuildOptions & { said: string[] } {
  const said: string[] = []
  const say = (line: string) => { said.push(line) }
  const { signal } = new AbortController()
  const holder = `replay ${randomUUID()}`
  return { pool, consumerPool: pool, streams, holder, signal, log: keepingLog(), say, said, checkEveryMs }
}

export type Command = 'replay' | 'rollback' | 'drop' | 'project'

/** The process signals itself before the nth statement like `at`. */
interface SignalAt { signal: NodeJS.Signals, at: string, nth?: number }

/** Starts a command. It prints the statement at which it signals itself, or all of them, and then its error. */
export function replayProcesses (t: Teardown, eventStoreUrl: string) {
  return (databaseUrl: string, command: Command, signalAt?: SignalAt) => {
    const options = { databaseUrl, eventStoreUrl, command, at: '', nth: 1, checkEveryMs, ...signalAt }
    return mainProcess<string>(t, new URL('./replay-main.js', import.meta.url), [JSON.stringify(options)])
  }
}
