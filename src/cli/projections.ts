// `ringledger projections list` and `replay`.
import Table from 'cli-table3'
import { activeGeneration, activeCheckpoint, outdated } from '../../projections/generations.js'
import { replay } from '../../projections/rebuild.js'
import type { Parts } from '../compose/parts.js'
import { projections } from '../compose/projector.js'
import { say, withParts } from './back-ends.js'
import { viewProgress } from './progress.js'

export interface ProjectionState {
  name: string
  version: number
  generation: number
  position: string
  /** How far the log is ahead, in positions. */
  behind: string
  updated_at: string
  owner: string | null
  /** The command that is due, when other code has folded what readers see. */
  due: string | null
}

export async function listProjections ({ json }: { json?: boolean }): Promise<void> {
  const states = await withParts('ringledger projections list', projectionStates)
  if (json) return void process.stdout.write(`${JSON.stringify(states, undefined, 2)}\n`)
  const table = new Table({ head: ['projection', 'code version', 'generation', 'position', 'behind', 'updated', 'owner', 'due'], style: { head: [], border: [] } })
  for (const { name, version, generation, position, behind, updated_at, owner, due } of states) table.push([name, version, generation, position, behind, updated_at, owner ?? 'none', due ?? ''])
  process.stdout.write(`${table.toString()}\n`)
}

async function projectionStates ({ pool, streams }: Parts): Promise<ProjectionState[]> {
  const head = await streams.head()
  const due = new Map((await outdated(pool, projections)).map(({ name, mend }) => [name, mend]))
  return await Promise.all(projections.map(async (projection) => {
    const { rows: [checkpoint] } = await pool.query<{ position: string, updated_at: Date }>(`SELECT position, updated_at FROM ${activeCheckpoint(projection.name)}`)
    const { rows: [lease] } = await pool.query<{ holder: string }>(
      'SELECT holder FROM ledger.leases WHERE name = $1 AND expires_at > clock_timestamp()', [`projection ${projection.name}`])
    const position = BigInt(checkpoint?.position ?? 0)
    return {
      name: projection.name,
      version: projection.version,
      generation: await activeGeneration(pool, projection),
      position: String(position),
      behind: String(head > position ? head - position : 0n),
      updated_at: checkpoint?.updated_at.toISOString() ?? 'never',
      owner: lease?.holder ?? null,
      due: due.get(projection.name) ?? null
    }
  }))
}

export async function replayProjection (name: string): Promise<void> {
  const projection = projections.find((known) => known.name === name)
  if (!projection) throw new Error(`there is no projection ${name}: choose one of ${projections.map((known) => known.name).join(', ')}`)
  const stopping = new AbortController()
  process.once('SIGINT', () => stopping.abort())
  process.once('SIGTERM', () => stopping.abort())
  const began = Date.now()
  const { generation, events } = await withParts('ringledger projections replay', async (parts) => {
    const progress = viewProgress()
    try {
      return await replay(projection, { ...parts, signal: stopping.signal, onProgress: ({ events, position, head }) => progress.update({ doing: name, events, done: head > position ? Number(position) / Number(head) : 1 }) })
    } finally {
      progress.stop()
    }
  })
  const seconds = (Date.now() - began) / 1000
  say(`Replayed ${name} from ${events} events in ${seconds.toFixed(1)} s; readers see generation ${generation} now.`)
}
