// Where every generation of a projection stands, and what is to be done about it.
import type { Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import { checkpointOf, generationsOf, leaseOf, type Generation, type State } from './generations.js'
import type { Projection } from '../engine/projection.js'

export interface GenerationStanding {
  projection: string
  generation: number
  state: State
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
  /** Against what it was verified before it was swapped in; nothing for one that began with the log. */
  verified: string | null
  /** The command that is due. */
  due: string | null
}

/** `head` is where the log ends. */
export async function standings (projection: Projection, pool: Pool, head: bigint): Promise<GenerationStanding[]> {
  return await Promise.all((await generationsOf(pool, projection)).map(async (each) => {
    const { rows: [checkpoint] } = each.state === 'dropping'
      ? { rows: [] }
      : await pool.query<{ position: string, updated_at: Date }>(`SELECT position, updated_at FROM ${checkpointOf(projection, each.generation)}`)
    const position = BigInt(checkpoint?.position ?? 0)
    const owner = await leaseHolder(pool, leaseOf(projection, each.generation)) ?? null
    return {
      projection: projection.name,
      generation: each.generation,
      state: each.state,
      code_version: each.codeVersion,
      present_version: projection.version,
      position: String(position),
      behind: String(head > position ? head - position : 0n),
      updated_at: checkpoint?.updated_at.toISOString() ?? 'never',
      owner,
      verified: each.verified,
      due: due(projection, each, owner)
    }
  }))
}

function due ({ name, version }: Projection, { generation, state, codeVersion }: Generation, owner: string | null): string | null {
  const drop = `ringledger projections drop ${name} --generation ${generation}`
  switch (state) {
    case 'active': return codeVersion === version ? null : `ringledger projections replay ${name}`
    case 'building':
    case 'ready': return owner !== null ? null : codeVersion === version ? `ringledger projections replay ${name}` : drop
    case 'retained': return codeVersion === version || owner !== null ? null : drop
    case 'dropping': return drop
    default: return state satisfies never
  }
}
