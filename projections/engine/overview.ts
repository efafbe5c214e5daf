// How far every generation of a projection is, and which command is due.
import type { Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import { checkpointOf, generationsOf, leaseOf, type Generation, type State } from './generations.js'
import type { Projection } from './projection.js'

export interface GenerationStatus {
  projection: string
  generation: number
  state: State
  /** False while it is filled for the first time: readers see nothing of it until then. */
  complete: boolean
  /** Of the code that folds it, and of the present code. */
  code_version: number
  present_version: number
  position: string
  /** How far the log is ahead, in positions. */
  behind: string
  /** When its rows or its position changed last, ISO 8601. */
  updated_at: string
  /** Who feeds or builds it. */
  owner: string | null
  /** Since when an operator has paused it, ISO 8601. */
  paused_since: string | null
  /** Against what it was verified before it was swapped in; nothing for one that began with the log. */
  verified: string | null
  /** The command that is due. */
  due: string | null
}

/** `head` is where the log ends. */
export async function overview (projection: Projection, pool: Pool, head: bigint): Promise<GenerationStatus[]> {
  const generations = await generationsOf(pool, projection)
  return await Promise.all(generations.map((each) => statusOf(projection, each, pool, head)))
}

async function statusOf (
  projection: Projection, each: Generation, pool: Pool, head: bigint
): Promise<GenerationStatus> {
  const checkpoint = each.state === 'dropping' ? undefined : await checkpointIn(pool, projection, each.generation)
  const position = BigInt(checkpoint?.position ?? 0)
  const owner = await leaseHolder(pool, leaseOf(projection, each.generation)) ?? null
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
    due: due(projection, each, owner)
  }
}

async function checkpointIn (pool: Pool, projection: Projection, generation: number) {
  const { rows: [checkpoint] } = await pool.query<{ position: string, updated_at: Date }>(
    `SELECT position, updated_at FROM ${checkpointOf(projection, generation)}`)
  return checkpoint
}

function due (
  { name, version }: Projection, { generation, state, codeVersion, pausedSince }: Generation, owner: string | null
): string | null {
  if (pausedSince) return `ringledger projections resume ${name}`
  const replay = `ringledger projections replay ${name}`
  const drop = `ringledger projections drop ${name} --generation ${generation}`
  switch (state) {
    case 'active': return codeVersion === version ? null : replay
    case 'building':
    case 'ready': return owner !== null ? null : codeVersion === version ? replay : drop
    case 'retained': return codeVersion === version || owner !== null ? null : drop
    case 'dropping': return drop
    default: return state satisfies never
  }
}
