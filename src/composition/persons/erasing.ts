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
 * Whether readers and the dispatcher have passed all that the log has now. Rows of a former release do not count: they
 * lack what an erasure looks for.
 */
export async function haveCome (
  { pool, streams, positions }: Pick<Connections, 'pool' | 'streams' | 'positions'>
): Promise<boolean> {
  if ((await outdated(pool, [leads, calls])).length > 0) return false
  return await haveReached(positions, sources, await streams.head())
}

/** Whether all of them have come as far as the position. */
export async function haveReached (
  positions: Connections['positions'], who: readonly string[], position: bigint
): Promise<boolean> {
  const come = await Promise.all(who.map((source) => positions.reached(source, position, lookMs)))
  return !come.includes(false)
}

/** Takes out of the store what is hidden, or notes that its operator has to. */
export async function scavengeFor (
  { streams, pool }: Pick<Connections, 'streams' | 'pool'>, requestId: string
): Promise<void> {
  if (!await streams.scavenge()) await noteUnscavenged(pool, requestId)
}
