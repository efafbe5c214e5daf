// Builds a generation from the log and verifies it, as the only process that writes to it.
import type { Pool } from 'pg'
import { claimCheckpoint, readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { withLease, LeaseHeld, type Lease } from '../../src/subscriptions/lease.js'
import { checkpointOf, generationsOf, leaseOf } from '../generations/generations.js'
import type { Projection } from '../engine/projection.js'
import type { Plan } from './begin.js'
import { becomeReady, noteVerified, type Building } from './building.js'
import { describe } from './verify/difference.js'
import { finishTables } from '../fill/finish-tables.js'
import { foldUntil, type FoldOptions } from '../fill/fold-log.js'
import type { OperationOptions } from './options.js'
import { cannotProject, ReplayRefused } from '../generations/refused.js'
import { verifyAgainstActive, verifyAgainstLog, type Verified } from './verify/verify.js'

export interface BuildOptions extends OperationOptions {
  /** Goes on although rows differ from those that readers see: for when those are wrong. */
  acceptDifferences?: boolean | undefined
  limits?: FoldOptions['limits']
}

/**
 * Brings the generation of `plan` from any state to `ready`: folded, indexed, verified. Every step may be broken off
 * anywhere; the next call goes on with it.
 * @throws ReplayRefused when another process builds it, an event cannot be projected, or rows differ
 */
export async function build (projection: Projection, plan: Plan, options: BuildOptions): Promise<void> {
  const { consumerPool: pool, holder, signal, leaseTimes: times } = options
  const name = leaseOf(projection, plan.generation)
  try {
    await withLease({ pool, name, holder, signal, times }, (lease) => buildOwned(projection, plan, lease, options))
  } catch (error) {
    if (!(error instanceof LeaseHeld)) throw error
    const underWay = `A replay of ${projection.name} is under way already`
    throw new ReplayRefused(`${underWay}, by ${error.holder}: wait for its end.`)
  }
}

async function buildOwned (
  projection: Projection, { active, generation }: Plan, { epoch, signal }: Lease, options: BuildOptions
): Promise<void> {
  const { pool, consumerPool, streams, onProgress, limits } = options
  const building: Building = { projection, generation, epoch }
  await claimCheckpoint(consumerPool, checkpointOf(projection, generation), epoch)
  const fold: Fold = (doing, until) => foldUntil(projection, generation, until, {
    pool: consumerPool,
    streams,
    signal,
    epoch,
    limits,
    onProgress: (events, done) => onProgress?.({ doing, events, done }),
    async refuse ([refused]) { if (refused) throw cannotProject(projection, refused.stored, refused.error) }
  })
  if (!await isVerified(projection, generation, pool)) {
    await foldAndVerify(building, active, fold, { ...options, signal })
  }
  await fold(projection.name, await streams.head())
  onProgress?.({ doing: 'indexes', events: 0 })
  await finishTables(projection, generation, { pool, signal })
  await fold('catch up', await streams.head())
  signal.throwIfAborted()
  await becomeReady(pool, building)
}

type Fold = (doing: string, until: bigint) => Promise<void>

async function foldAndVerify (
  building: Building, active: Plan['active'], fold: Fold, options: BuildOptions
): Promise<void> {
  const { projection, generation } = building
  const { pool, streams, signal, onProgress } = options
  const isSameCode = active.codeVersion === projection.version
  const present = checkpointOf(projection, active.generation)
  await fold(projection.name, isSameCode ? await readCheckpoint(pool, present) : await streams.head())
  onProgress?.({ doing: 'verify', events: 0 })
  const onVerified = (events: number, done: number) => onProgress?.({ doing: 'verify', events, done })
  const verified = isSameCode
    ? await verifyAgainstActive(
      projection, { active: active.generation, next: generation }, pool, (position) => fold('verify', position))
    : await verifyAgainstLog(projection, generation, {}, { pool, streams, signal, onProgress: onVerified })
  await accept(building, verified, isSameCode, options)
}

/** By an earlier call, which was broken off later: it cannot be compared once it is ahead of what readers see. */
async function isVerified (projection: Projection, generation: number, pool: Pool): Promise<boolean> {
  const generations = await generationsOf(pool, projection)
  return generations.some((each) => each.generation === generation && each.verified !== null)
}

/**
 * Writes down against what the generation was verified.
 * @throws ReplayRefused when its rows are not what they should be
 */
async function accept (
  building: Building, verified: Verified, isSameCode: boolean, options: BuildOptions
): Promise<void> {
  const { pool, acceptDifferences, say, showsValues } = options
  const lines = verified.differences.map((difference) => `  ${describe(difference, verified, showsValues)}`)
  const isAccepted = lines.length === 0 || (acceptDifferences && isSameCode)
  if (!isAccepted) {
    const first = `${verified.found} and ${verified.expected} differ, at least in these rows:`
    throw new ReplayRefused(differ(building, [first, ...lines], isSameCode))
  }
  for (const line of lines) say?.(`${line} (accepted)`)
  const how = lines.length > 0 ? `${verified.how}, differences accepted` : verified.how
  await noteVerified(pool, building, how)
}

function differ ({ projection: { name }, generation }: Building, lines: string[], isSameCode: boolean): string {
  return [
    `Generation ${generation} of ${name} is not swapped in.`,
    ...lines,
    'Readers see what they saw. To give the new generation up:',
    `  ringledger projections drop ${name} --generation ${generation}`,
    ...isSameCode ? howToAccept(name) : []
  ].join('\n')
}

const howToAccept = (name: string) => [
  'If it is the new one that is right, and readers shall see it:',
  `  ringledger projections replay ${name} --accept-differences`
]
