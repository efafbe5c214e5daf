// Replays that are held at a point, as a process of its own makes them: alive, or frozen past its lease.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Projection } from '../../../../projections/engine/projection.js'
import { generationsOf, leaseOf } from '../../../../projections/generations/generations.js'
import { BrokenOff, ReplayRefused } from '../../../../projections/generations/refused.js'
import { replay } from '../../../../projections/replay/replay.js'
import { openSealing } from '../../../../src/services/connections.js'
import type { StoredEvent } from '../../../../src/domain/stored-event.js'
import { EventLog, type Streams } from '../../../../src/log/event-log.js'
import { connectionTo } from '../../back-ends/scratch-event-store.js'
import { eventually } from '../../eventually.js'
import { keepingLog } from '../../postgres/ledger.js'
import { Gate } from '../../postgres/gate.js'
import { watchedPool } from '../../postgres/statements.js'
import type { TestService } from '../../service.js'
import type { Teardown } from '../../teardown.js'

/**
 * `read`: the first events of the person, and none is written. `half`: one is written, the others are in memory; of
 * `half read` they are not read yet. `all read`: before rows are compared. `compared`: before the swap. `ready`: a
 * reader keeps others from being led to it.
 */
export const points = ['read', 'half', 'half read', 'all read', 'compared', 'ready'] as const
export type Point = typeof points[number]

export interface Held {
  goOn (): Promise<void>
  /** Why it was refused or broke off, if so. */
  ended: Promise<string | undefined>
}

interface HeldOptions {
  at: Point
  /** It knows nothing of its lease being over; until it goes on nothing of it is answered. */
  isFrozen: boolean
  /** One of the person's events, with others behind it. */
  isFirst (event: StoredEvent): boolean
}

export function replaysHeld (t: Teardown, service: TestService) {
  const { config, urls, parts: { pool, consumerPool } } = service
  const raw = new EventLog(connectionTo(t, urls.eventStoreUrl))
  /** Begins a replay. @returns once it is held */
  return async (projection: Projection, { at, isFrozen, isFirst }: HeldOptions): Promise<Held> => {
    const gate = new Gate()
    const { streams, personKeys } = openSealing(at === 'half read' ? oneByOne(raw, gate, isFirst) : raw, pool, config)
    const letGo = at === 'ready' ? await reading(pool, projection) : async () => gate.open()
    const watched = (of: Pool) => watchedPool(of, { before: () => gate.pass() })
    const replaying = replay(projection, {
      pool: watched(pool),
      consumerPool: isFrozen ? watched(consumerPool) : consumerPool,
      streams: heldAt(at, streams, gate, isFirst),
      holder: `test ${randomUUID()}`,
      signal: new AbortController().signal,
      log: keepingLog(),
      limits: at === 'half' || at === 'half read' ? { events: 1 } : undefined,
      leaseTimes: isFrozen ? { renewEvery: 500, expiresAfter: 3_600_000, tryEvery: 500 } : undefined,
      onProgress ({ doing }) {
        if ((at === 'all read' && doing === 'verify') || (at === 'compared' && doing === 'indexes')) gate.close()
      }
    })
    const newest = async () => (await generationsOf(pool, projection)).at(-1)
    await (at === 'ready' ? eventually(async () => (await newest())?.state === 'ready') : gate.arrived)
    if (isFrozen) {
      await pool.query("UPDATE ledger.leases SET expires_at = '-infinity' WHERE name = $1",
        [leaseOf(projection, (await newest())?.generation ?? 0)])
    }
    return { goOn: letGo, ended: problemOf(replaying).finally(() => personKeys.close()) }
  }
}

async function problemOf (replaying: Promise<unknown>): Promise<string | undefined> {
  try {
    await replaying
    return undefined
  } catch (error) {
    if (error instanceof ReplayRefused || error instanceof BrokenOff) return error.message
    throw error
  }
}

/** A reader, whom no swap pushes aside. @returns what ends it */
export async function reading (pool: Pool, { tables: [table] }: Projection): Promise<() => Promise<void>> {
  const reader = await pool.connect()
  await reader.query(`BEGIN; SELECT FROM read_model.${table?.name} LIMIT 1`)
  let ended: Promise<unknown> | undefined
  return async () => { await (ended ??= reader.query('ROLLBACK').finally(() => reader.release())) }
}

type IsFirst = HeldOptions['isFirst']

function heldAt (at: Point, streams: Streams, gate: Gate, isFirst: IsFirst): Streams {
  if (at === 'half') return oneByOne(streams, gate, isFirst)
  return at === 'read' ? beforeFirst(streams, gate, isFirst) : streams
}

/** What comes with the first event of the person is in memory, and handed on once the gate opens. */
function beforeFirst (streams: Streams, gate: Gate, isFirst: IsFirst): Streams {
  return {
    ...streams,
    async * follow (options) {
      for await (const batch of streams.follow(options)) {
        if (batch.events.some(isFirst)) gate.close()
        await gate.pass()
        yield batch
      }
    }
  }
}

/** Each event is a batch: behind the first one of the person comes the next one once the gate opens. */
function oneByOne (streams: Streams, gate: Gate, isFirst: IsFirst): Streams {
  return {
    ...streams,
    async * follow (options) {
      for await (const { events, position } of streams.follow(options)) {
        for (const event of events) {
          await gate.pass()
          yield { events: [event], position: event.position }
          if (isFirst(event)) gate.close()
        }
        yield { events: [], position }
      }
    }
  }
}
