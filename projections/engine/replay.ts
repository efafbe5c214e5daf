// A replay builds a new generation beside the one that readers see, and verifies it.
import { DatabaseError, type Pool } from 'pg'
import type { Streams } from '../../src/log/event-log.js'
import { onConnection } from '../../src/postgres/transaction.js'
import { claimCheckpoint, Fenced, readCheckpoint, touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { LeaseHeld, withLease } from '../../src/subscriptions/lease.js'
import type { RunOptions } from '../../src/subscriptions/run.js'
import { pause } from '../../src/timing.js'
import { compareWithActive, describe, type Compared } from './compare.js'
import type { FeedOptions } from './feed.js'
import {
  activeOf, checkpointOf, choosing, createGeneration, generationsOf, leaseOf, nextOf, removeGeneration, schemaOf,
  type Generation
} from './generations.js'
import { parkedRows } from './parked.js'
import type { Projection, Refused } from './projection.js'
import { createIndexes } from './table.js'
import { Writer, type WriterOptions } from './writer.js'

/** The operation cannot go on; the message says why and what to run. */
export class ReplayRefused extends Error {
  override readonly name = 'ReplayRefused'
}

/** The generation is ready, but the projection was paused meanwhile: the swap follows once it is resumed. */
export class SwapWaits extends ReplayRefused {}

/** A back end failed. Nothing is lost: the next call resumes. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

/** An operator must decide about the event before the log can be folded past it. */
function cannotProject (
  { name }: Projection, { stream, revision }: Refused['stored'], problem: string
): ReplayRefused {
  return new ReplayRefused(`${name} cannot be rebuilt past ${stream}@${revision}: ${problem}
Readers see what they saw. Either the code learns to read the event, or it is given up, for this and every later rebuild:
  ringledger projections quarantine skip ${name} ${stream} ${revision} --reason '…'
Then run the same command again: it goes on where it stands.`)
}

export interface Plan {
  active: Generation
  /** The number of the generation to build. */
  generation: number
  /** `begin` at the start of the log, `resume` where a replay stopped, `wait` for the swap of a ready generation. */
  kind: 'begin' | 'resume' | 'wait'
}

/** @throws ReplayRefused */
export function planReplay (projection: Projection, generations: readonly Generation[]): Plan {
  const { name, version } = projection
  const active = activeOf(generations)
  if (!active) throw new Error(`${name} has no active generation`)
  const next = nextOf(generations)
  if (!next) return { active, generation: 1 + Math.max(...generations.map((each) => each.generation)), kind: 'begin' }
  const { generation, state, codeVersion } = next
  if (codeVersion !== version || isGoingBack(next, active)) throw notEnded(projection, next, active)
  return { active, generation, kind: state === 'ready' ? 'wait' : 'resume' }
}

/** Whether a rollback to `next` is under way. A replay always builds a generation of a higher number. */
export const isGoingBack = (next: Generation, active: Generation) => next.generation < active.generation

/** `next` is under way, so nothing else may begin. */
export function notEnded (
  { name, version }: Projection, next: Generation, active: Generation
): ReplayRefused {
  const { generation, state, codeVersion } = next
  const command = `\`ringledger projections ${isGoingBack(next, active) ? 'rollback' : 'replay'} ${name}\``
  const how = codeVersion === version
    ? `${state}. Let ${command} end`
    : `${state}, by version ${codeVersion} of its code; this release has version ${version}. Let ${command} of that release end`
  return new ReplayRefused(`Generation ${generation} of ${name} is ${how}, ` +
    `or give it up with \`ringledger projections drop ${name} --generation ${generation}\`.`)
}

/**
 * Creates the empty tables of a new generation. Two processes that begin at once get the same one.
 * @param check may refuse the plan
 */
export async function beginReplay (
  projection: Projection, pool: Pool, check?: (plan: Plan) => void
): Promise<Plan> {
  return await choosing(pool, async (tx) => {
    const plan = planReplay(projection, await generationsOf(tx, projection))
    check?.(plan)
    if (plan.kind === 'begin') await createGeneration(tx, projection, plan.generation, 'building')
    return plan
  })
}

export interface Progress {
  doing: string
  /** Events since this began; 0 where none are read. */
  events: number
  /** 0 to 1; absent if unknown. */
  done?: number
}

export interface OperationOptions extends Pick<FeedOptions, 'sameLog' | 'leaseTimes' | 'checkEveryMs'> {
  /** For statements of any length. */
  pool: Pool
  /** Times out long statements and idle transactions. */
  consumerPool: Pool
  streams: Streams
  /** Names this process in leases, for operators. */
  holder: string
  /** Stops the operation, which may be run again. */
  signal: AbortSignal
  log: RunOptions['log']
  onProgress? (progress: Progress): void
  /** Prints a line for people. */
  say? (line: string): void
  /**
   * Shows the values of rows that differ. Only for an operator at a terminal: values are personal data, and whatever is
   * stored or logged outlives an erasure.
   */
  showsValues?: boolean
  /** Ends instead of waiting for a paused projection: where one action runs at a time, nobody could resume it. */
  endsWhenPaused?: boolean
}

export interface BuildOptions extends OperationOptions {
  /** Goes on although rows differ: for when those that readers see are wrong. */
  acceptDifferences?: boolean | undefined
  /** Memory for rows, in bytes, and most events of one batch. */
  limits?: { cacheBytes?: number, events?: number } | undefined
  /** First backoff after an error; it doubles with each further one, up to 5 s. */
  shortestPauseMs?: number | undefined
}

/**
 * Folds, verifies and indexes the generation of `plan`, then makes it `ready`. Every step may break off anywhere; the
 * next call resumes it.
 * @throws ReplayRefused when another process builds it, an event cannot be projected, or rows differ
 */
export async function build (projection: Projection, plan: Plan, options: BuildOptions): Promise<void> {
  const { pool, streams, onProgress } = options
  await whileBuilding(projection, plan, options, async (building, fold, signal) => {
    const { generation } = building
    // An earlier call may have verified it, then stopped. Once it is ahead of the active one, nothing can compare it.
    const built = (await generationsOf(pool, projection)).find((each) => each.generation === generation)
    if (!built?.verified) {
      const isSameCode = plan.active.codeVersion === projection.version
      await accept(building, await foldAndCompare(building, plan.active, fold, options), isSameCode, options)
    }
    await fold(projection.name, await streams.head())
    onProgress?.({ doing: 'indexes', events: 0 })
    await finishTables(projection, generation, { pool, signal })
    await fold('catch up', await streams.head())
    signal.throwIfAborted()
    await changeBuilding(pool, building, 'state = $4, changed_at = now()', 'ready') // it holds all that the log held
  })
}

/**
 * Builds a generation beside the one that readers see, compares them, and drops it.
 * @throws ReplayRefused when another one is being built or waits for its swap, or other code folded what readers see
 */
export async function verify (projection: Projection, options: OperationOptions): Promise<Compared> {
  const { pool } = options
  const plan = await beginReplay(projection, pool, (plan) => refuseToVerify(projection, plan))
  return await whileBuilding(projection, plan, options, async (building, fold) => {
    try {
      return await foldAndCompare(building, plan.active, fold, options)
    } finally {
      await dropOwn(pool, building)
    }
  })
}

/** Leaves the generation alone if a replay took it over: this process may have been frozen. */
async function dropOwn (pool: Pool, { projection, generation, epoch }: Building): Promise<void> {
  await choosing(pool, async (tx) => {
    const held = await touchCheckpoint(tx, checkpointOf(projection, generation))
    if (held.epoch === epoch) await removeGeneration(tx, projection, generation)
  })
}

/** @throws ReplayRefused unless a verification may begin */
export function refuseToVerify ({ name, version }: Projection, { kind, generation, active }: Plan): void {
  if (kind !== 'begin') {
    throw new ReplayRefused(`Generation ${generation} of ${name} is being built: let its replay end, which compares ` +
      `all rows, or give it up with \`ringledger projections drop ${name} --generation ${generation}\`.`)
  }
  if (active.codeVersion === version) return
  throw new ReplayRefused(`Readers of ${name} see what version ${active.codeVersion} of its code has folded, and this ` +
    `release has version ${version}: \`ringledger projections replay ${name}\` tells by how many rows they differ.`)
}

type Fold = (doing: string, until: bigint) => Promise<void>

/** Runs `work` while it holds the lease of the generation. */
async function whileBuilding<Answer> (
  projection: Projection, { active, generation }: Plan, options: BuildOptions,
  work: (building: Building, fold: Fold, signal: AbortSignal) => Promise<Answer>
): Promise<Answer> {
  const { consumerPool: pool, holder, leaseTimes: times, onProgress } = options
  const lease = { pool, name: leaseOf(projection, generation), holder, signal: options.signal, times }
  try {
    return await withLease(lease, async ({ epoch, signal }) => {
      await claimCheckpoint(pool, checkpointOf(projection, generation), epoch)
      const given = { ...options, pool, signal, epoch, refuse: refuseUnlessParkedIn(projection, active, pool) }
      const fold: Fold = (doing, until) => foldUntil(projection, generation, until, {
        ...given, onProgress: (events, done) => onProgress?.({ doing, events, done })
      })
      return await work({ projection, generation, epoch }, fold, signal)
    })
  } catch (error) {
    if (!(error instanceof LeaseHeld)) throw error
    const underWay = `A replay of ${projection.name} is under way already`
    throw new ReplayRefused(`${underWay}, by ${error.holder}: wait for its end.`)
  }
}

interface FoldOptions
  extends Pick<WriterOptions, 'refuse'>, Pick<BuildOptions, 'streams' | 'signal' | 'limits' | 'shortestPauseMs'> {
  pool: Pool
  /** The epoch of the holder's lease. */
  epoch: bigint
  /** Gets the events folded since this call, and the part of the way done, 0 to 1. */
  onProgress? (events: number, done: number): void
}

const usualCacheBytes = 16 * 2 ** 20
const mostFailures = 8
const usualShortestPauseMs = 200
const longestPauseMs = 5_000

/**
 * Folds the log from the checkpoint to exactly `until`. Retries after an error that passes, such as a restart of a back
 * end. @throws what `refuse` throws; Fenced when another process has the generation
 */
export async function foldUntil (
  projection: Projection, generation: number, until: bigint, options: FoldOptions
): Promise<void> {
  const { pool, streams, signal, epoch, refuse, onProgress, shortestPauseMs = usualShortestPauseMs } = options
  const { cacheBytes = usualCacheBytes, events: mostEvents } = options.limits ?? {}
  const { eventTypes } = projection
  let former = -1n
  for (let failures = 0; ;) {
    try {
      const from = await readCheckpoint(pool, checkpointOf(projection, generation))
      if (from >= until) return
      if (from > former) failures = 0
      former = from
      const writer = new Writer(projection, generation, pool, { refuse, budgetBytes: cacheBytes })
      let [position, count] = [from, 0]
      for await (const batch of streams.follow({ after: from, until, eventTypes, signal, mostEvents })) {
        await writer.write(batch, position, epoch)
        position = batch.position
        count += batch.events.length
        onProgress?.(count, Number(position - from) / Number(until - from))
      }
      signal.throwIfAborted()
    } catch (error) {
      signal.throwIfAborted()
      const isFinal = error instanceof ReplayRefused || error instanceof Fenced
      if (isFinal || ++failures > mostFailures) throw error
      await pause(Math.min(shortestPauseMs * 2 ** (failures - 1), longestPauseMs), signal)
    }
  }
}

/** Lets an event be parked only if the active generation has parked it too, so that readers lack it already. */
const refuseUnlessParkedIn = (projection: Projection, active: Generation, pool: Pool) => async (refused: Refused[]) => {
  for (const { stored, error } of refused) {
    const parked = await parkedRows(pool, schemaOf(projection, active.generation), stored.stream)
    if (!parked.some(({ revision }) => revision === stored.revision)) throw cannotProject(projection, stored, error)
  }
}

async function foldAndCompare (
  { projection, generation: next }: Building, { generation: active, codeVersion }: Generation, fold: Fold,
  { pool, signal, onProgress }: BuildOptions
): Promise<Compared> {
  await fold(projection.name, await readCheckpoint(pool, checkpointOf(projection, active)))
  onProgress?.({ doing: 'verify', events: 0 })
  signal.throwIfAborted()
  return await compareWithActive(projection, { active, next }, codeVersion === projection.version, pool,
    (position) => fold('verify', position))
}

/**
 * Records what the generation was compared with.
 * @throws ReplayRefused when rows differ, unless the caller accepts differences
 */
async function accept (
  building: Building, compared: Compared, isSameCode: boolean, options: BuildOptions
): Promise<void> {
  const { pool, acceptDifferences, say, showsValues } = options
  const lines = compared.differences.map((difference) => `  ${describe(difference, compared, showsValues)}`)
  if (lines.length > 0 && !acceptDifferences) {
    const { projection: { name }, generation } = building
    throw new ReplayRefused([
      `Generation ${generation} of ${name} is not swapped in.`,
      `${compared.found} and ${compared.expected} differ, at least in these rows:`,
      ...lines,
      'Readers see what they saw. To give the new generation up:',
      `  ringledger projections drop ${name} --generation ${generation}`,
      'If it is the new one that is right, and readers shall see it:',
      `  ringledger projections replay ${name} --accept-differences`
    ].join('\n'))
  }
  for (const line of lines) say?.(`${line} (accepted)`)
  if (!isSameCode) say?.(`The code has changed: ${compared.how}.`)
  const how = lines.length > 0 ? `${compared.how}, differences accepted` : compared.how
  await changeBuilding(pool, building, 'verified = $4', how)
}

/** A generation under construction, and the epoch of its builder. */
interface Building { projection: Projection, generation: number, epoch: bigint }

/**
 * Checks the epoch: after a drop, the same number may belong to a generation that another process builds.
 * @throws Fenced
 */
async function changeBuilding (
  pool: Pool, { projection, generation, epoch }: Building, change: string, value: string
): Promise<void> {
  const { rowCount } = await pool.query(`
    UPDATE ledger.generations SET ${change} WHERE projection = $1 AND generation = $2 AND state = 'building'
      AND EXISTS (SELECT FROM ${checkpointOf(projection, generation)} WHERE epoch = $3)`,
  [projection.name, generation, epoch, value])
  if (rowCount !== 1) throw new Fenced(`generation ${generation} of ${projection.name} is no longer being built by this process`)
}

/**
 * Builds missing indexes, then vacuums, because index-only scans need the visibility map. It leaves out empty tables:
 * statistics of an empty table would still give bad plans after it is filled.
 * @throws what `signal` was aborted with
 */
async function finishTables (
  projection: Projection, generation: number, { pool, signal }: { pool: Pool, signal: AbortSignal }
): Promise<void> {
  const schema = schemaOf(projection, generation)
  for (const table of projection.tables) {
    for (const index of createIndexes(schema, table)) {
      await run(index, pool, signal)
    }
    const { rowCount } = await pool.query(`SELECT FROM ${schema}.${table.name} LIMIT 1`)
    if (rowCount === 1) await run(`VACUUM (ANALYZE) ${schema}.${table.name}`, pool, signal)
  }
}

/** Cancels the statement when `signal` is aborted: Postgres would finish it without us. */
async function run (statement: string, pool: Pool, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await onConnection(pool, async (client) => {
    const { rows: [backend] } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const cancel = () => { pool.query('SELECT pg_cancel_backend($1)', [backend?.pid]).catch(() => {}) }
    signal.addEventListener('abort', cancel, { once: true })
    try {
      await client.query(statement)
    } catch (error) {
      signal.throwIfAborted()
      if (!isMadeMeanwhile(error)) throw error
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  })
}

/** The last statement of a killed replay created the index meanwhile. */
const isMadeMeanwhile = (error: unknown) =>
  error instanceof DatabaseError && error.code === '23505' && error.table === 'pg_class'
