// What every erasure waits for, and how it ends.
import { calls } from '../../../projections/calls.js'
import { outdated } from '../../../projections/generations/generations.js'
import { leads } from '../../../projections/leads.js'
import { noteUnscavenged } from '../../../workers/persons/unscavenged.js'
import type { Connections } from '../connections.js'

/** Each look at a source that is behind takes so long, in milliseconds. */
const lookMs = 1_000
export const sources = ['leads', 'calls', 'catalog', 'deliveries']

/**
 * Which readers have not passed yet what the log has now, or the dispatcher. Nor have those whose rows are of a former
 * release: they lack what an erasure looks for.
 */
export async function areBehind (
  { pool, streams, positions }: Pick<Connections, 'pool' | 'streams' | 'positions'>
): Promise<string[]> {
  const ofFormer = await outdated(pool, [leads, calls])
  if (ofFormer.length > 0) return ofFormer.map(({ name }) => `${name}, of a former release`)
  return await areBefore(positions, sources, await streams.head())
}

/** Which of them have not come as far as the position. */
export async function areBefore (
  positions: Connections['positions'], who: readonly string[], position: bigint
): Promise<string[]> {
  const come = await Promise.all(who.map((source) => positions.reached(source, position, lookMs)))
  return who.filter((_source, nth) => !come[nth])
}

/** Takes out of the store what is hidden, or notes that its operator has to. */
export async function scavengeFor (
  { streams, pool }: Pick<Connections, 'streams' | 'pool'>, requestId: string
): Promise<void> {
  if (!await streams.scavenge()) await noteUnscavenged(pool, requestId)
}
