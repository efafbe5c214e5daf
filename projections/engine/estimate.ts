// What a replay would do, found out without changing anything.
import type { Pool } from 'pg'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { checkpointOf, generationsOf, schemaOf } from './generations.js'
import type { Projection } from './projection.js'
import { fold, readEvents } from './fold.js'
import { MemoryRows } from './rows.js'
import { loadSkipped } from './parked.js'
import { cannotProject } from './refused.js'
import { planReplay, type OperationOptions, type Plan } from './replay.js'

export interface Estimate extends Plan {
  /** Where in the log it begins, and where the log ends now. */
  from: bigint
  until: bigint
  /** Of the projection's types, about. */
  events: number
  /** About, for reading and folding; indexes and verification come on top. */
  seconds: number
  /** Of the active generation, all tables together. */
  rows: number
  bytes: number
}

const measuredForMs = 2_000
const cacheBytes = 16 * 2 ** 20

type Given = Pick<OperationOptions, 'pool' | 'streams' | 'signal'>

/**
 * Folds the beginning of the log for two seconds, in memory, and takes the rest to be like that.
 * @throws ReplayRefused as a replay would
 */
export async function estimate (projection: Projection, options: Given): Promise<Estimate> {
  const { pool, streams } = options
  const plan = planReplay(projection, await generationsOf(pool, projection))
  const from = plan.kind === 'begin' ? 0n : await readCheckpoint(pool, checkpointOf(projection, plan.generation))
  const until = await streams.head()
  const measured = await measure(projection, from, until, options)
  const times = measured.passed > 0 ? Number(until - from) / measured.passed : 0
  return {
    ...plan,
    from,
    until,
    events: Math.round(measured.events * times),
    seconds: measured.seconds * times,
    ...await sizeOf(projection, plan.active.generation, pool)
  }
}

interface Measured { events: number, passed: number, seconds: number }

async function measure (
  projection: Projection, from: bigint, until: bigint, { pool, streams, signal }: Given
): Promise<Measured> {
  const beganAt = performance.now()
  const rows = new MemoryRows(projection.tables, { isEmpty: true, budgetBytes: cacheBytes })
  const skipped = await loadSkipped(pool, projection.name)
  const measured = { events: 0, passed: 0, seconds: 0 }
  if (from >= until) return measured
  const following = streams.follow({ after: from, eventTypes: projection.eventTypes, signal })
  for await (const { events, position } of following) {
    for (const each of readEvents(projection, events.filter((stored) => !skipped.has(stored)))) {
      const problem = 'problem' in each ? each.problem : fold(projection, each, rows)
      if (problem !== undefined) throw cannotProject(projection, each.stored, problem)
    }
    rows.take()
    rows.written()
    measured.events += events.length
    measured.passed = Number((position < until ? position : until) - from)
    measured.seconds = (performance.now() - beganAt) / 1000
    if (position >= until || measured.seconds * 1000 > measuredForMs) return measured
  }
  signal.throwIfAborted()
  return measured
}

async function sizeOf (
  projection: Projection, generation: number, pool: Pool
): Promise<{ rows: number, bytes: number }> {
  const total = { rows: 0, bytes: 0 }
  for (const { name } of projection.tables) {
    const table = `${schemaOf(projection, generation)}.${name}`
    const { rows: [size] } = await pool.query<{ rows: string, bytes: string }>(
      `SELECT count(*) AS rows, pg_total_relation_size('${table}') AS bytes FROM ${table}`)
    total.rows += Number(size?.rows)
    total.bytes += Number(size?.bytes)
  }
  return total
}
