// Replays a projection: a new generation is built beside the one that readers see, verified, and swapped in.
import type { Projection, Refused } from './projection.js'
import { BrokenOff, ReplayRefused, cannotProject } from './refused.js'
import { type Pool, DatabaseError } from 'pg'
import { inTransaction, onConnection } from '../../src/postgres/transaction.js'
import {
  createGeneration, generationsOf, lockGenerations, removeGeneration, type Generation, leaseOf, checkpointOf, schemaOf
} from './generations.js'
import { pause } from '../../src/timing.js'
import { feedGenerations, type FeedOptions } from './run.js'
import { Stopped, type RunOptions } from '../../src/subscriptions/run.js'
import type { Streams } from '../../src/log/event-log.js'
import { claimCheckpoint, readCheckpoint, touchCheckpoint, Fenced } from '../../src/subscriptions/checkpoint.js'
import { leaseHolder, LeaseHeld, withLease } from '../../src/subscriptions/lease.js'
import { compareWithActive, describe, type Compared } from './compare.js'
import { Writer, type WriterOptions } from './writer.js'
import { parkedRows } from './parked.js'
import { createIndexes } from './table.js'

/**
 * Goes on where an earlier replay of the same code was broken off. The former generation is retained.
 * @returns the generation that readers see now
 * @throws ReplayRefused, or BrokenOff when a back end fails for longer than is waited for; then readers see what they
 * saw
 */
export async function replay (projection: Projection, options: BuildOptions): Promise<number> {
  try {
    return await carryOut(projection, options)
  } catch (error) {
    if (options.signal.aborted || error instanceof ReplayRefused || !(error instanceof Error)) throw error
    throw new BrokenOff(`The replay of ${projection.name} broke off: ${error.message}
Readers see what they saw. Run the same command again: it goes on where it stands.`, { cause: error })
  }
}

async function carryOut (projection: Projection, options: BuildOptions): Promise<number> {
  const plan = await beginReplay(projection, options.pool)
  const { generation, kind } = plan
  const name = `Generation ${generation} of ${projection.name}`
  if (kind === 'resume') options.say?.(`${name} was begun earlier: going on with it.`)
  if (kind !== 'wait') await build(projection, plan, options)
  await awaitSwap(projection, generation, options)
  return generation
}

export interface Plan {
  active: Generation
  /** The number of the generation that is to be built. */
  generation: number
  /** `begin` at the start of the log, `resume` where a replay stopped, `wait` for the swap of a ready generation. */
  kind: 'begin' | 'resume' | 'wait'
}

/** What a replay has to do as things are. @throws ReplayRefused */
export function planReplay ({ name, version }: Projection, generations: readonly Generation[]): Plan {
  const active = generations.find(({ state }) => state === 'active')
  if (!active) throw new Error(`${name} has no active generation`)
  const next = generations.find(({ state }) => state === 'building' || state === 'ready')
  if (!next) return { active, generation: 1 + Math.max(...generations.map((each) => each.generation)), kind: 'begin' }
  const { generation, state, codeVersion } = next
  if (generation < active.generation) {
    throw new ReplayRefused(`A rollback of ${name} to generation ${generation} is under way: wait for its end.`)
  }
  if (codeVersion === version) return { active, generation, kind: state === 'ready' ? 'wait' : 'resume' }
  const found = `Generation ${generation} of ${name} is ${state}, by version ${codeVersion} of its code`
  throw new ReplayRefused(`${found}; this is version ${version}. ` +
    'Run the replay of that release to its end, or give the generation up:\n' +
    `  ringledger projections drop ${name} --generation ${generation}`)
}

/** Makes the empty tables of the plan's generation. Two processes that begin at once get the same generation. */
export async function beginReplay (projection: Projection, pool: Pool): Promise<Plan> {
  return await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    const plan = planReplay(projection, await generationsOf(tx, projection))
    if (plan.kind === 'begin') await createGeneration(tx, projection, plan.generation, 'building')
    return plan
  })
}

const mostPauseMs = 200

/**
 * A projector of this code takes the generation over, brings it level and swaps. While none runs, the generation is fed
 * from here; it is swapped from here only when no process feeds the active one either.
 * @throws ReplayRefused when the generation is given up meanwhile
 */
export async function awaitSwap (projection: Projection, generation: number, options: OperationOptions): Promise<void> {
  const { consumerPool: pool, signal } = options
  const done = new AbortController()
  const feeding = feedGenerations([projection], {
    ...options, pool, yields: true, signal: AbortSignal.any([signal, done.signal])
  })
  options.onProgress?.({ doing: 'swap', events: 0 })
  try {
    await untilActive(projection, generation, options)
  } finally {
    done.abort()
    await feeding
  }
}

async function untilActive (projection: Projection, generation: number, options: OperationOptions): Promise<void> {
  const { consumerPool: pool, signal, checkEveryMs = mostPauseMs, say } = options
  for (let isExplained = false; ; await pause(Math.min(checkEveryMs, mostPauseMs), signal)) {
    signal.throwIfAborted()
    const generations = await generationsOf(pool, projection).catch(() => undefined) // Postgres restarts
    const state = generations?.find((each) => each.generation === generation)?.state
    if (state === 'active') return
    if (generations && state !== 'ready') {
      throw new ReplayRefused(`Generation ${generation} of ${projection.name} was given up meanwhile.`)
    }
    const active = generations?.find((each) => each.state === 'active')
    const reason = active && !isExplained ? await whyItWaits(projection, generation, active, pool) : undefined
    if (reason === undefined) continue
    say?.(reason)
    isExplained = true
  }
}

async function whyItWaits (
  projection: Projection, generation: number, active: Generation, pool: Pool
): Promise<string | undefined> {
  if (active.pausedSince) return waitsForResume(projection, generation)
  return await isFedByOtherCode(projection, active, pool) ? waitsForRelease(projection, generation, active) : undefined
}

async function isFedByOtherCode (projection: Projection, active: Generation, pool: Pool): Promise<boolean> {
  if (active.codeVersion === projection.version) return false
  const holder = await leaseHolder(pool, leaseOf(projection, active.generation)).catch(() => undefined)
  return holder !== undefined
}

function waitsForResume ({ name }: Projection, generation: number): string {
  return `Generation ${generation} of ${name} is ready, and ${name} is paused: it is swapped in after ` +
    `\`ringledger projections resume ${name}\`.`
}

function waitsForRelease ({ name, version }: Projection, generation: number, { codeVersion }: Generation): string {
  return `Generation ${generation} of ${name} is ready. ` +
    `The projector that runs has version ${codeVersion} of the code; the first one with version ${version} swaps.\n` +
    'This command keeps the generation level until then; it may be stopped, which costs nothing.'
}

/** How far long work is. */
export interface Progress {
  doing: string
  /** Events since this began; 0 where none are read. */
  events: number
  /** 0 to 1; absent where it is not known. */
  done?: number
}

export interface OperationOptions extends Pick<FeedOptions, 'notifications' | 'leaseTimes' | 'checkEveryMs'> {
  /** Its statements may take as long as they like. */
  pool: Pool
  /** Its statements may not, and it lets no transaction idle. */
  consumerPool: Pool
  streams: Streams
  /** Names this process in leases, for operators. */
  holder: string
  /** Breaks the operation off, which may be run again. */
  signal: AbortSignal
  log: RunOptions['log']
  onProgress? (progress: Progress): void
  /** For people: each line once. */
  say? (line: string): void
  /**
   * Values of rows that differ are told. Only where an operator looks on: they are of persons, and what is kept or
   * logged outlives an erasure.
   */
  showsValues?: boolean
}

export interface BuildOptions extends OperationOptions {
  /** Goes on although rows differ from those that readers see: for when those are wrong. */
  acceptDifferences?: boolean | undefined
  limits?: FoldOptions['limits']
  /** Before the first try after an error that passes; each further one is twice as long, up to 5 s. */
  shortestPauseMs?: number | undefined
}

/**
 * Brings the generation of `plan` from any state to `ready`: folded, indexed, verified. Every step may be broken off
 * anywhere; the next call goes on with it.
 * @throws ReplayRefused when another process builds it, an event cannot be projected, or rows differ
 */
export async function build (projection: Projection, plan: Plan, options: BuildOptions): Promise<void> {
  const { pool, streams, onProgress } = options
  await whileBuilding(projection, plan, options, async (building, fold, signal) => {
    const { generation } = building
    if (!await isVerified(projection, generation, pool)) {
      const isSameCode = plan.active.codeVersion === projection.version
      await accept(building, await foldAndCompare(building, plan.active, fold, options), isSameCode, options)
    }
    await fold(projection.name, await streams.head())
    onProgress?.({ doing: 'indexes', events: 0 })
    await finishTables(projection, generation, { pool, signal })
    await fold('catch up', await streams.head())
    signal.throwIfAborted()
    await becomeReady(pool, building)
  })
}

/**
 * Builds a generation beside the one that readers see, compares them, and drops it.
 * @throws ReplayRefused when another one is being built or waits for its swap, or other code folded what readers see
 */
export async function verify (projection: Projection, options: OperationOptions): Promise<Compared> {
  const { pool } = options
  const plan = await beginVerification(projection, pool)
  return await whileBuilding(projection, plan, options, async (building, fold) => {
    try {
      return await foldAndCompare(building, plan.active, fold, options)
    } finally {
      await dropOwn(pool, building)
    }
  })
}

/** Not where a replay has taken it over: this process may have been frozen. */
async function dropOwn (pool: Pool, { projection, generation, epoch }: Building): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    const held = await touchCheckpoint(tx, checkpointOf(projection, generation))
    if (held.epoch === epoch) await removeGeneration(tx, projection, generation)
  })
}

async function beginVerification (projection: Projection, pool: Pool): Promise<Plan> {
  const { name, version } = projection
  return await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    const plan = planReplay(projection, await generationsOf(tx, projection))
    if (plan.kind !== 'begin') {
      throw new ReplayRefused(`Generation ${plan.generation} of ${name} is being built: let its replay end, which compares ` +
        `all rows, or give it up with \`ringledger projections drop ${name} --generation ${plan.generation}\`.`)
    }
    if (plan.active.codeVersion !== version) {
      throw new ReplayRefused(`Readers of ${name} see what version ${plan.active.codeVersion} of its code has folded, and this ` +
        `release has version ${version}: \`ringledger projections replay ${name}\` tells by how many rows they differ.`)
    }
    await createGeneration(tx, projection, plan.generation, 'building')
    return plan
  })
}

type Fold = (doing: string, until: bigint) => Promise<void>

/** Holds the lease of the generation meanwhile. */
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

export interface FoldOptions extends Pick<WriterOptions, 'refuse'> {
  pool: Pool
  streams: Streams
  signal: AbortSignal
  /** The epoch of the holder's lease. */
  epoch: bigint
  /** Events since this call, and which part of them this is, 0 to 1. */
  onProgress? (events: number, done: number): void
  /** Memory for rows, in bytes, and most events of one batch. */
  limits?: { cacheBytes?: number, events?: number } | undefined
  shortestPauseMs?: number | undefined
}

const usualCacheBytes = 16 * 2 ** 20
const mostFailures = 8
const usualShortestPauseMs = 200
const longestPauseMs = 5_000

/**
 * Brings the generation from its checkpoint to `until` exactly. Goes on by itself after an error that passes, such as
 * a restart of a back end. @throws what `refuse` throws; Fenced when another process has the generation
 */
export async function foldUntil (
  projection: Projection, generation: number, until: bigint, options: FoldOptions
): Promise<void> {
  const { pool, signal, shortestPauseMs = usualShortestPauseMs } = options
  let former = -1n
  for (let failures = 0; ;) {
    try {
      const from = await readCheckpoint(pool, checkpointOf(projection, generation))
      if (from >= until) return
      if (from > former) failures = 0
      former = from
      await foldFrom(projection, generation, from, until, options)
    } catch (error) {
      signal.throwIfAborted()
      const isFinal = error instanceof ReplayRefused || error instanceof Fenced || error instanceof Stopped
      if (isFinal || ++failures > mostFailures) throw error
      await pause(Math.min(shortestPauseMs * 2 ** (failures - 1), longestPauseMs), signal)
    }
  }
}

async function foldFrom (
  projection: Projection, generation: number, from: bigint, until: bigint, options: FoldOptions
): Promise<void> {
  const { pool, streams, signal, epoch, refuse, onProgress, limits: { cacheBytes, events: mostEvents } = {} } = options
  const writer = new Writer(projection, generation, pool, { refuse, budgetBytes: cacheBytes ?? usualCacheBytes })
  let [position, count] = [from, 0]
  const { eventTypes } = projection
  for await (const batch of streams.follow({ after: from, until, eventTypes, signal, mostEvents })) {
    await writer.write(batch, position, epoch)
    position = batch.position
    count += batch.events.length
    onProgress?.(count, Number(position - from) / Number(until - from))
  }
  signal.throwIfAborted()
}

/** What readers lack already, the new generation may lack as well. */
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
  building: Building, compared: Compared, isSameCode: boolean, options: BuildOptions
): Promise<void> {
  const { pool, acceptDifferences, say, showsValues } = options
  const lines = compared.differences.map((difference) => `  ${describe(difference, compared, showsValues)}`)
  if (lines.length > 0 && !acceptDifferences) {
    const first = `${compared.found} and ${compared.expected} differ, at least in these rows:`
    throw new ReplayRefused(differ(building, [first, ...lines]))
  }
  for (const line of lines) say?.(`${line} (accepted)`)
  if (!isSameCode) say?.(`The code has changed: ${compared.how}.`)
  await noteVerified(pool, building, lines.length > 0 ? `${compared.how}, differences accepted` : compared.how)
}

function differ ({ projection: { name }, generation }: Building, lines: string[]): string {
  return [
    `Generation ${generation} of ${name} is not swapped in.`,
    ...lines,
    'Readers see what they saw. To give the new generation up:',
    `  ringledger projections drop ${name} --generation ${generation}`,
    'If it is the new one that is right, and readers shall see it:',
    `  ringledger projections replay ${name} --accept-differences`
  ].join('\n')
}

/** A generation that is being built, and the epoch of who builds it. */
interface Building { projection: Projection, generation: number, epoch: bigint }

/** Records, in words, against what a generation was verified. @throws Fenced */
async function noteVerified (pool: Pool, building: Building, how: string): Promise<void> {
  await changeBuilding(pool, building, 'verified = $4', how)
}

/** Lets readers be led to it; it holds all that the log held. @throws Fenced */
async function becomeReady (pool: Pool, building: Building): Promise<void> {
  await changeBuilding(pool, building, 'state = $4, changed_at = now()', 'ready')
}

/** A generation that was dropped may have left its number to another one, which only its own builder changes. */
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
 * Builds what is missing, in statements that take as long as they take. Reads of an index alone need what VACUUM notes.
 * Of an empty table it would note that it is empty, and the plans of that would stay after it is filled.
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

/** Cancels the statement when `signal` is aborted: it would go on without us. */
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

/** By the last statement of a replay that was killed. */
const isMadeMeanwhile = (error: unknown) =>
  error instanceof DatabaseError && error.code === '23505' && error.table === 'pg_class'
