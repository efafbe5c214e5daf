// How far every generation of a projection is, and which command is due.
import type { Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import {
  activeOf, checkpointOf, formerOf, generationsOf, leaseOf, nextOf, schemaOf, whyNotBack, type Generation
} from './generations.js'
import type { Projection } from './projection.js'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { fold, readEvents, MemoryRows } from './rows.js'
import { isGoingBack, planReplay, type OperationOptions } from './replay.js'

export type Owned = Generation & { owner: string | null }

export async function ownedGenerations (projection: Projection, pool: Pool): Promise<Owned[]> {
  return await Promise.all((await generationsOf(pool, projection)).map(async (each) =>
    ({ ...each, owner: await leaseHolder(pool, leaseOf(projection, each.generation)) ?? null })))
}

/** `head` is where the log ends. */
export const overview = (projection: Projection, generations: readonly Owned[], pool: Pool, head: bigint) =>
  Promise.all(generations.map((each) => statusOf(projection, each, generations, pool, head)))

export type GenerationStatus = Awaited<ReturnType<typeof statusOf>>

/** Times in ISO 8601. [The API](../../src/ops/answers.ts) describes the fields. */
async function statusOf (projection: Projection, each: Owned, all: readonly Owned[], pool: Pool, head: bigint) {
  const text = `SELECT position, updated_at FROM ${checkpointOf(projection, each.generation)}`
  const look = () => pool.query<{ position: string, updated_at: Date }>(text)
  const { rows: [checkpoint] } = each.state === 'dropping' ? { rows: [] } : await look()
  const position = BigInt(checkpoint?.position ?? 0)
  const { owner } = each
  return {
    projection: projection.name,
    generation: each.generation,
    state: each.state,
    complete: position >= BigInt(each.visibleFrom),
    code_version: each.codeVersion,
    present_version: projection.version,
    position: String(position),
    behind: String(head > position ? head - position : 0n),
    updated_at: checkpoint?.updated_at.toISOString() ?? 'never',
    owner,
    paused_since: each.pausedSince?.toISOString() ?? null,
    verified: each.verified,
    rollback: each.state === 'retained' ? rollback(projection, each, all) : null,
    due: due(projection, each, all)
  }
}

function rollback (projection: Projection, each: Generation, all: readonly Generation[]): string {
  const [next, former = each] = [nextOf(all), formerOf(all)]
  const why = next
    ? `generation ${next.generation} is ${next.state}`
    : each === former ? whyNotBack(projection, each) : `generation ${former.generation} comes first`
  return why ? `no: ${why}` : 'yes'
}

function due ({ name, version }: Projection, each: Owned, all: readonly Owned[]): string | null {
  const active = activeOf(all) ?? each
  const { generation, state, codeVersion, pausedSince, owner } = each
  if (pausedSince) return `ringledger projections resume ${name}`
  const [replay, back] = [`ringledger projections replay ${name}`, `ringledger projections rollback ${name}`]
  const drop = `ringledger projections drop ${name} --generation ${generation}`
  switch (state) {
    case 'active': return codeVersion === version || nextOf(all) ? null : replay
    case 'building':
    case 'ready': return owner !== null ? null : codeVersion !== version ? drop : isGoingBack(each, active) ? back : replay
    case 'retained': return codeVersion === version || owner !== null ? null : drop
    case 'dropping': return drop
    default: return state satisfies never
  }
}

const measuredForMs = 2_000
const cacheBytes = 16 * 2 ** 20

type Given = Pick<OperationOptions, 'pool' | 'streams' | 'signal'>

/**
 * Folds in memory for two seconds, from where the replay would begin, and extrapolates. Rows and bytes are those of the
 * active generation.
 * @throws ReplayRefused when another release's replay has not ended
 */
export async function estimate (projection: Projection, options: Given) {
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
    seconds: measured.seconds * times, // to read and fold them; indexes and verification come on top
    ...await sizeOf(projection, plan.active.generation, pool)
  }
}

export type Estimate = Awaited<ReturnType<typeof estimate>>

async function measure (projection: Projection, from: bigint, until: bigint, { streams, signal }: Given) {
  const beganAt = performance.now()
  const rows = new MemoryRows(projection.tables, { isEmpty: true, budgetBytes: cacheBytes })
  const measured = { events: 0, passed: 0, seconds: 0 }
  if (from >= until) return measured
  for await (const { events, position } of streams.follow({ after: from, eventTypes: projection.eventTypes, signal })) {
    for (const each of readEvents(projection, events)) {
      if (!('keys' in each)) continue
      rows.presumeAbsent(each.keys) // where memory was short
      fold(projection, each, rows)
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

async function sizeOf (projection: Projection, generation: number, pool: Pool) {
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
