// What an operator can do to a projection. The command line and the HTTP API share these operations and messages.
import { setFlagsFromString } from 'node:v8'
import type { Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import { pause } from '../../src/timing.js'
import { projections } from '../index.js'
import { describe } from './compare.js'
import { feedGenerations } from './feed.js'
import {
  activeOf, changeState, choosing, formerOf, generationsOf, leaseOf, nextOf, removeGeneration, whyNotBack,
  type Generation
} from './generations.js'
import type { Owned } from './overview.js'
import type { Projection } from './projection.js'
import {
  beginReplay, BrokenOff, build, isGoingBack, notEnded, planReplay, refuseToVerify, ReplayRefused, SwapWaits, verify,
  type BuildOptions, type OperationOptions
} from './replay.js'

/** Options of operations; each operation reads its own. */
export interface OperationInput {
  /** A replay swaps although rows differ from those that readers see. */
  acceptDifferences?: boolean | undefined
  /** To drop only this generation, unless readers see it or a replay builds it. */
  generation?: number | undefined
}

export interface Operation {
  /** Message for an operator who stops it. */
  stopped: string
  /** @returns the outcome, for people. @throws ReplayRefused, BrokenOff, OtherLog */
  run (projection: Projection, options: OperationOptions, input: OperationInput): Promise<string>
}

export const actions = ['replay', 'verify', 'rollback', 'drop', 'pause', 'resume'] as const
export type Action = typeof actions[number]

export const operations: Readonly<Record<Action, Operation>> = {
  replay: {
    stopped: 'The replay was stopped; readers see what they saw. ' +
      'Run the same command again to go on where it stands, or see `ringledger projections list`.',
    async run (projection, options, { acceptDifferences }) {
      // A replay allocates short-lived garbage. By default V8 lets a small heap grow to four times its use.
      setFlagsFromString('--heap-growing-percent=100')
      const began = Date.now()
      const generation = await replay(projection, { ...options, acceptDifferences })
      const seconds = ((Date.now() - began) / 1000).toFixed(1)
      return `Replayed ${projection.name} in ${seconds} s; readers see generation ${generation} now. ` +
        await wordsOnFormer(projection, options.pool)
    }
  },
  pause: {
    stopped: 'The command was stopped.',
    async run (projection, { pool }) {
      const { name } = projection
      const { rowCount } = await pool.query(
        'INSERT INTO ledger.paused_projections (projection) VALUES ($1) ON CONFLICT DO NOTHING', [name])
      if (rowCount === 0) throw isPaused(name)
      return `${name} is paused within a second: readers see what they saw, and the log waits. ` +
        `\`ringledger projections resume ${name}\` lets it go on.`
    }
  },
  resume: {
    stopped: 'The command was stopped.',
    async run (projection, { pool }) {
      const { name } = projection
      const { rowCount } = await pool.query('DELETE FROM ledger.paused_projections WHERE projection = $1', [name])
      if (rowCount === 1) return `${name} goes on within a second, where it stood.`
      throw isNotPaused(name)
    }
  },
  verify: {
    stopped: 'The verification was stopped.',
    async run (projection, options) {
      const { name } = projection
      await options.sameLog?.assert()
      const compared = await verify(projection, options)
      if (compared.differences.length === 0) return `The rows of ${name} are as they should be: ${compared.how}, ${compared.rows} in all.`
      throw new ReplayRefused([
        `${compared.found} of ${name} and ${compared.expected}, made anew from the log, differ, at least in these rows:`,
        ...compared.differences.map((difference) => `  ${describe(difference, compared, options.showsValues)}`),
        `To build the rows anew: ringledger projections replay ${name} --accept-differences`
      ].join('\n'))
    }
  },
  rollback: {
    stopped: 'The command was stopped; the swap is made all the same, by the next projector that can.',
    async run (projection, options) {
      const generation = await rollback(projection, options)
      return `Readers of ${projection.name} see generation ${generation} again. ` +
        await wordsOnFormer(projection, options.pool)
    }
  },
  drop: {
    stopped: 'The command was stopped: run it again to finish.',
    async run (projection, options, { generation }) {
      const dropped = await drop(projection, generation, options)
      return `Dropped of ${projection.name}: generation ${dropped.join(', ')}.`
    }
  }
}

async function wordsOnFormer (projection: Projection, pool: Pool): Promise<string> {
  const { name, version } = projection
  const former = formerOf(await generationsOf(pool, projection))
  return 'The former one ' + (former && former.codeVersion !== version
    ? `was folded by version ${former.codeVersion} of the code: only that release keeps it level, and can go back ` +
      `to it. \`ringledger projections drop ${name}\` removes it.`
    : `is kept level for \`ringledger projections rollback ${name}\`, until \`ringledger projections drop ${name}\`.`)
}

const isPaused = (name: string) => new ReplayRefused(`${name} is paused already.`)
const isNotPaused = (name: string) => new ReplayRefused(`${name} is not paused. If it stands still because it refused ` +
  `too many streams: \`ringledger projections quarantine resume ${name}\`.`)

/** Why the action would be refused now, if so. */
export function whyNot (action: Action, projection: Projection, generations: readonly Owned[]): string | undefined {
  if ((action === 'replay' || action === 'rollback') && generations.some(({ pausedSince }) => pausedSince !== null)) {
    return `${projection.name} is paused: resume it first.` // the swap at its end would wait
  }
  try {
    refuse(action, projection, generations)
    return undefined
  } catch (error) {
    if (error instanceof ReplayRefused) return error.message
    throw error
  }
}

/** @throws ReplayRefused */
function refuse (action: Action, projection: Projection, generations: readonly Owned[]): void {
  const isPausedNow = generations.some(({ pausedSince }) => pausedSince !== null)
  switch (action) {
    case 'replay':
    case 'verify': {
      const plan = planReplay(projection, generations)
      const builder = generations.find(({ state, owner }) => state === 'building' && owner !== null)?.owner
      if (builder) throw new ReplayRefused(`A replay of ${projection.name} is under way already, by ${builder}: wait for its end.`)
      if (action === 'verify') refuseToVerify(projection, plan)
      break
    }
    case 'rollback': targetOf(projection, generations); break
    case 'drop': choose(projection, generations, undefined); break
    case 'pause': if (isPausedNow) throw isPaused(projection.name); break
    case 'resume': if (!isPausedNow) throw isNotPaused(projection.name); break
    default: action satisfies never
  }
}

/**
 * Resumes an earlier replay of the same code that broke off. The former generation is retained.
 * @returns the generation that readers see now
 * @throws OtherLog, ReplayRefused, or BrokenOff when a back end fails for too long; then readers see what they saw
 */
export async function replay (projection: Projection, options: BuildOptions): Promise<number> {
  const { name } = projection
  await options.sameLog?.assert()
  try {
    const plan = await beginReplay(projection, options.pool)
    const { generation, kind } = plan
    if (kind === 'resume') options.say?.(`Generation ${generation} of ${name} was begun earlier: going on with it.`)
    if (kind !== 'wait') await build(projection, plan, options)
    await awaitSwap(projection, generation, options)
    return generation
  } catch (error) {
    if (options.signal.aborted || error instanceof ReplayRefused || !(error instanceof Error)) throw error
    throw new BrokenOff(`The replay of ${name} broke off: ${error.message}
Readers see what they saw. Run the same command again: it goes on where it stands.`, { cause: error })
  }
}

const mostPauseMs = 200

/**
 * A projector of this code takes the generation over, catches up and swaps. While none runs, this process feeds the
 * generation; it swaps only if no process feeds the active one either.
 * @throws ReplayRefused when somebody drops the generation meanwhile
 */
async function awaitSwap (projection: Projection, generation: number, options: OperationOptions): Promise<void> {
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
  const { consumerPool: pool, signal, checkEveryMs = mostPauseMs, say, endsWhenPaused } = options
  for (let isExplained = false; ; await pause(Math.min(checkEveryMs, mostPauseMs), signal)) {
    signal.throwIfAborted()
    const generations = await generationsOf(pool, projection).catch(() => undefined) // Postgres restarts
    const state = generations?.find((each) => each.generation === generation)?.state
    if (state === 'active') return
    if (generations && state !== 'ready') {
      throw new ReplayRefused(`Generation ${generation} of ${projection.name} was given up meanwhile.`)
    }
    const active = generations && activeOf(generations)
    const mustEnd = endsWhenPaused && active?.pausedSince
    const reason = active && (mustEnd || !isExplained) && await whyItWaits(projection, generation, active, pool)
    if (!reason) continue
    if (mustEnd) throw new SwapWaits(reason)
    say?.(reason)
    isExplained = true
  }
}

async function whyItWaits (
  { name, version }: Projection, generation: number, active: Generation, pool: Pool
): Promise<string | undefined> {
  const isReady = `Generation ${generation} of ${name} is ready`
  if (active.pausedSince) {
    return `${isReady}, and ${name} is paused: it is swapped in after \`ringledger projections resume ${name}\`.`
  }
  if (active.codeVersion === version) return undefined
  const feeder = await leaseHolder(pool, leaseOf({ name }, active.generation)).catch(() => undefined)
  return feeder && `${isReady}. The projector that runs has version ${active.codeVersion} of the code; ` +
    `the first one with version ${version} swaps.\n` +
    'This command keeps the generation level until then; it may be stopped, which costs nothing.'
}

/**
 * Swaps the former generation in as a replay does, once it has caught up. The active one is then retained.
 * @returns the generation that readers see now
 * @throws OtherLog; ReplayRefused when there is none, or other code has folded it
 */
export async function rollback (projection: Projection, options: OperationOptions): Promise<number> {
  const { pool, sameLog } = options
  await sameLog?.assert()
  const { generation } = await choosing(pool, async (tx) => {
    const found = targetOf(projection, await generationsOf(tx, projection))
    await changeState(tx, projection, found.generation, 'retained', 'ready')
    return found
  })
  await awaitSwap(projection, generation, options)
  return generation
}

function targetOf (projection: Projection, generations: readonly Generation[]): Generation {
  const { name, version } = projection
  const active = activeOf(generations)
  const next = nextOf(generations)
  const isBegun = next && active && next.codeVersion === version && isGoingBack(next, active)
  if (next && active && !isBegun) throw notEnded(projection, next, active)
  const target = next ?? formerOf(generations)
  if (!target) throw new ReplayRefused(`There is no retained generation of ${name} to go back to.`)
  const problem = whyNotBack(projection, target)
  if (problem) throw new ReplayRefused(`Readers of ${name} cannot go back to generation ${target.generation}: ${problem}.`)
  return target
}

type DropOptions = Pick<OperationOptions, 'pool' | 'signal'>

/** A projector is notified, or checks every ten seconds; the lease of a dead one expires within four. */
const releasedWithinMs = 15_000

/**
 * Drops the `wanted` generation, or all retained ones and those that an earlier call began to drop.
 * @returns the dropped generations
 * @throws ReplayRefused for the active one, for one that a replay builds now, and when there is nothing to drop
 */
export async function drop (
  projection: Projection, wanted: number | undefined, options: DropOptions
): Promise<number[]> {
  const { pool } = options
  const chosen = await choosing(pool, async (tx) => {
    const found = choose(projection, await generationsOf(tx, projection), wanted)
    for (const { generation, state } of found) {
      const name = `Generation ${generation} of ${projection.name}`
      const builder = state === 'building' ? await leaseHolder(pool, leaseOf(projection, generation)) : undefined
      if (builder !== undefined) {
        throw new ReplayRefused(`${name} is being built just now, by ${builder}: stop that replay first.`)
      }
      if (await changeState(tx, projection, generation, state, 'dropping')) continue
      throw new ReplayRefused(`${name} is no longer ${state}: look again.`)
    }
    return found
  })
  for (const { generation } of chosen) {
    await awaitRelease(projection, generation, options)
    await choosing(pool, async (tx) => {
      const found = (await generationsOf(tx, projection)).find((each) => each.generation === generation)
      if (found?.state === 'dropping') await removeGeneration(tx, projection, generation) // or another drop was first
    })
  }
  return chosen.map(({ generation }) => generation)
}

function choose (
  { name }: Projection, generations: readonly Generation[], wanted: number | undefined
): Generation[] {
  if (wanted === undefined) {
    const all = generations.filter(({ state }) => state === 'retained' || state === 'dropping')
    if (all.length === 0) throw new ReplayRefused(`There is no retained generation of ${name}.`)
    return all
  }
  const one = generations.find(({ generation }) => generation === wanted)
  if (!one) throw new ReplayRefused(`There is no generation ${wanted} of ${name}: see \`ringledger projections list\`.`)
  if (one.state === 'active') {
    throw new ReplayRefused(`Readers see generation ${wanted} of ${name}: it cannot be dropped.`)
  }
  return [one]
}

/** Waits until every process has stopped feeding it. */
async function awaitRelease (
  projection: Projection, generation: number, { pool, signal }: DropOptions
): Promise<void> {
  const name = leaseOf(projection, generation)
  const giveUpAt = performance.now() + releasedWithinMs
  for (let holder = await leaseHolder(pool, name); holder !== undefined; holder = await leaseHolder(pool, name)) {
    signal.throwIfAborted()
    if (performance.now() > giveUpAt) {
      const held = `generation ${generation} of ${projection.name}`
      throw new ReplayRefused(`${holder} does not release ${held}: end it, then run this command again.`)
    }
    await pause(100, signal)
  }
}

export class UnknownProjection extends Error {
  override readonly name = 'UnknownProjection'
}

/** @throws UnknownProjection, with the names that exist */
export function projectionNamed (name: string): Projection {
  const projection = projections.find((known) => known.name === name)
  if (projection) return projection
  const names = projections.map((known) => known.name).join(', ')
  throw new UnknownProjection(`there is no projection ${name}: choose one of ${names}`)
}
