// Erases persons as durable work: step by step, each safe to repeat.
//
// First it waits until the read models have everything that the log has of the person, as parked events would be lost.
// Then it deletes the person's key, so that nobody can read what is sealed under it. Then it appends to every stream
// about the person an event that stands for the earlier ones, and hides those; read models and the dispatcher follow
// these events. The next round finds what came meanwhile under another key; the last round finds nothing. Calls that
// are reported later are erased without another request.
import { calls } from '../../projections/calls.js'
import {
  activeOf, activeGeneration, outdated, checkpointOf, generationsOf, isFed, leaseOf, schemaOf, type Generation
} from '../../projections/engine/generations.js'
import { leads } from '../../projections/leads.js'
import {
  callKeys, findCallIds, findReport, leadKeys, type Person, findLateCalls, findUsersOfLateCalls
} from '../../projections/persons.js'
import { endRequest, findRequest } from '../../src/commands/person-requests.js'
import { keyTrustedMs } from '../../src/privacy/person-keys.js'
import { unseal, type SealedRow } from '../../src/privacy/sealed-text.js'
import type { Services } from '../../src/services/services.js'
import { pause } from '../../src/timing.js'
import type { BackgroundKind, Turn } from '../work/kind.js'
import { noteUnscavenged, eraseLedger, erasePendingRows, forgetAnswers, forgetDispatched } from './erasure-rows.js'
import { eraseCall } from './erase-streams.js'
import { eraseNamed, leadIdsOf, type NamedServices, streamsOf, halfKnown, nobodys, parkedEventsOf, parkedOf } from './of-person.js'
import { addWork } from '../work/requests.js'
import { DatabaseError, type Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { Projection } from '../../projections/engine/projection.js'
import { drop } from '../../projections/engine/operations.js'
import { ReplayRefused } from '../../projections/engine/replay.js'

/** Days that the row of an erasure is kept after its end; its events stay. */
const keepDays = 1

export interface ErasureWork extends NamedServices, Pick<Services, 'keys' | 'personKeys'> {
  log: { warn (details: object, message: string): void }
  /** Milliseconds after which no process uses a deleted key. */
  settleMs?: number
  behind?: typeof areBehind
}

type Step = 'key' | 'settle' | 'leads' | 'named' | 'calls' | 'erase-calls' | 'ledger' | 'scavenge' | 'done'

export interface ErasureProgress {
  step: Step
  round: number
  /** Until when the step waits, in milliseconds since 1970. */
  until: number
  /** Of all rounds: they find the calls once the rows of the leads have no number. */
  leads: number[]
  /** Generations of the read models that this round searches. */
  generations: number[]
  /** Calls that may be half erased, and the last one that this round has done. */
  calls: string[]
  after: string
  /** Whether this round found anything. */
  hasFound: boolean
  /** For the user: why the last look had to wait; absent if it went on. */
  waits_for?: string | undefined
}

const begun: ErasureProgress = {
  step: 'key', round: 1, until: 0, leads: [], generations: [], calls: [], after: '', hasFound: false
}

const anotherRound = (done: ErasureProgress): ErasureProgress =>
  ({ ...done, step: 'key', round: done.round + 1, hasFound: false })

const callsAtOnce = 100
/** Each round erases what came during the one before: nobody creates a person's leads for so long. */
const mostRounds = 20

export function erasures (work: ErasureWork): BackgroundKind<SealedRow, ErasureProgress> {
  return {
    keepDays,
    async work ({ id, userId, input, progress }, turn) {
      const person = { userId, phoneNumber: unseal(work.keys, userId, input) }
      let done: ErasureProgress = { ...begun, ...progress }
      while (done.step !== 'done') {
        const next = await stepOf(work, id, person, done, turn)
        if (!next) return 'again'
        if ('waitsFor' in next) return await waiting(work, id, done, next, turn)
        done = { ...next, waits_for: undefined }
        await turn.keep(done)
        if (turn.isOver()) return 'again'
      }
      return { state: 'completed' }
    },
    finish: ({ id }, ended) => endRequest(work.streams, id, ended.state === 'completed'),
    wasAccepted: async (id) => await findRequest(work.streams, id) !== undefined
  }
}

/** `inMs`: until then others have their turns. */
interface Waits { waitsFor: string, inMs: number }

const lookAgainMs = 500

/** Shows the reason to whoever reads the request, and logs it once. */
async function waiting (
  { log }: ErasureWork, request: string, done: ErasureProgress, { waitsFor, inMs }: Waits, turn: Turn<ErasureProgress>
) {
  if (done.waits_for !== waitsFor) {
    await turn.keep({ ...done, waits_for: waitsFor })
    if (inMs > 0) log.warn({ request }, `an erasure of a person waits for ${waitsFor}`)
  }
  if (inMs > 0) return { state: 'waiting' as const, inMs }
  await pause(lookAgainMs, turn.signal)
  return 'again'
}

/** @returns the progress after the step, or why it waits; nothing if the wait takes moments */
async function stepOf (
  work: ErasureWork, id: string, person: Person, done: ErasureProgress, { signal }: Turn<ErasureProgress>
): Promise<ErasureProgress | Waits | undefined> {
  switch (done.step) {
    case 'key': {
      if (done.round > mostRounds) throw new Error('what is known of a person grows while it is erased')
      const waits = await isUnread(work, id, person)
      if (waits) return waits
      const { settleMs = keyTrustedMs } = work
      // Without the key, retries of these commands cannot be answered.
      await forgetAnswers(work.pool, person.userId, await streamsOf(work, person))
      const wasThere = await work.personKeys.erase(person.userId, person.phoneNumber)
      return { ...done, step: 'settle', until: wasThere || done.round === 1 ? Date.now() + settleMs : 0 }
    }
    case 'settle':
      await pause(Math.max(0, done.until - Date.now()), signal)
      // The rows that an import has begun must be in the log before this looks for their leads.
      if (signal.aborted) return undefined
      return await isImported(work, person) ?? await areAway(work) ?? { ...done, step: 'leads' }
    case 'leads': {
      // The log has everything that these answers are about, and this round erases it. Later answers stay valid.
      await forgetAnswers(work.pool, person.userId, await streamsOf(work, person))
      await forgetDispatched(work.pool, person)
      const away = await areAway(work)
      if (away) return away
      const generations = await Promise.all(readModels.map(({ projection }) => activeGeneration(work.pool, projection)))
      return { ...done, step: 'named', generations, leads: [...new Set([...done.leads, ...await leadIdsOf(work, person)])] }
    }
    case 'named':
      return { ...done, step: 'calls', after: '', hasFound: await eraseNamed(work, person, done.leads, id) || done.hasFound }
    case 'calls': {
      const { leads: leadIds, after } = done
      const others = await halfKnown(work, person, leadIds)
      const calls = await findCallIds(
        work.pool, person, { leadIds, nobodys: await nobodys(work), others }, after, callsAtOnce)
      if (calls.length > 0) return { ...done, step: 'erase-calls', calls, hasFound: true }
      return done.hasFound ? anotherRound(done) : { ...done, step: 'ledger' }
    }
    case 'erase-calls':
      for (const callId of done.calls) await eraseCallOf(work, callId, person.userId, id)
      return { ...done, step: 'calls', calls: [], after: done.calls.at(-1) ?? done.after }
    case 'ledger':
      // Events of this erasure are parked, too, if their stream has parked events. The next round waits for them.
      if ((await parkedOf(work, person, id)).length > 0) return anotherRound(done)
      return await eraseRest(work, person, done, signal)
    case 'scavenge':
      await scavengeFor(work, id)
      return { ...done, step: 'done' }
    case 'done': return done
    default: return done.step satisfies never
  }
}

async function areAway (work: ErasureWork): Promise<Waits | undefined> {
  const { behind = areBehind } = work
  const names = await behind(work)
  return names.length > 0 ? { waitsFor: `who is behind the log: ${names.join(', ')}`, inMs: 0 } : undefined
}

/** Refuses waiting rows of imports. */
async function isImported (work: ErasureWork, person: Person): Promise<Waits | undefined> {
  const isRefused = await erasePendingRows(work.pool, person)
  return isRefused ? undefined : { waitsFor: 'an import that has begun a row with the number', inMs: 0 }
}

const parkedAgainMs = 10_000

/** Runs before the key is deleted: what read models have not projected by then, they never will. */
async function isUnread (work: ErasureWork, id: string, person: Person): Promise<Waits | undefined> {
  const away = await areAway(work)
  if (away) return away
  const parked = await parkedOf(work, person, id)
  if (parked.length === 0) return await isImported(work, person)
  return { waitsFor: parkedEventsOf(parked), inMs: parkedAgainMs }
}

/** Erases what is left besides the log and the generations that this round has searched. */
async function eraseRest (
  work: ErasureWork, person: Person, done: ErasureProgress, signal: AbortSignal
): Promise<ErasureProgress | Waits> {
  const areOnly = await areOnlyIn(work, person, done, signal)
  if (areOnly === undefined) return anotherRound(done)
  const underWay = areOnly ? await eraseLedger(work, person) : 'a generation of a read model that has more of the person'
  if (underWay !== undefined) return { waitsFor: underWay, inMs: 0 }
  return await erasePendingRows(work.pool, person) ? { ...done, step: 'scavenge' } : anotherRound(done)
}

/** The read models that have rows of persons. */
const readModels = [{ projection: leads, keysIn: leadKeys }, { projection: calls, keysIn: callKeys }]

/**
 * Whether no other generation has more of the person than those that this round has searched; nothing if readers see
 * others by now.
 *
 * Other generations that are fed follow the log, too, and so will that of a running replay. If a generation still has
 * data of the person, it was built while the key existed, and is dropped. So is a generation that nobody feeds: one of
 * other code that was kept for a rollback, one of a replay that broke off, and one whose drop broke off. While one of
 * them is behind, or not dropped yet, the answer is no.
 */
async function areOnlyIn (
  { pool, streams }: ErasureWork, { userId, phoneNumber }: Person, { generations, leads }: ErasureProgress,
  signal: AbortSignal
): Promise<boolean | undefined> {
  const head = await streams.head()
  let areOnly = true
  for (const [nth, { projection, keysIn }] of readModels.entries()) {
    const all = await generationsOf(pool, projection)
    const active = activeOf(all)?.generation
    if (active === undefined || active !== generations[nth]) return undefined
    const keys = (generation: number) => keysIn(schemaOf(projection, generation))
    for (const each of all.filter(({ generation }) => generation !== active)) {
      const isMore = each.state === 'dropping' ||
        await hasMore(pool, projection, [each, active], head, keys, [userId, phoneNumber, leads])
      if (isMore !== false) areOnly = isMore === true && await tryToDrop(pool, projection, each, signal) && areOnly
    }
  }
  return areOnly
}

/** Whether it has keys that readers do not see; nothing while that is unknown. */
async function hasMore (
  pool: Pool, projection: Projection, [each, active]: [Generation, number], head: bigint,
  keys: (generation: number) => string, values: unknown[]
): Promise<boolean | undefined> {
  const { generation } = each
  if (await readCheckpoint(pool, checkpointOf(projection, generation)).catch(() => -1n) < head) {
    if (isFed(projection, each)) return undefined
    return await leaseHolder(pool, leaseOf(projection, generation)) === undefined || undefined
  }
  const { rows: [found] } = await pool.query<{ has_more: boolean, is_ahead: boolean }>(`
    SELECT EXISTS (${keys(generation)} EXCEPT ${keys(active)}) AS has_more, kept.position > seen.position AS is_ahead
    FROM ${checkpointOf(projection, generation)} kept CROSS JOIN ${checkpointOf(projection, active)} seen`, values)
    .catch(otherColumns)
  if (!found?.has_more) return found && false
  return found.is_ahead ? undefined : true // new rows will soon be in both
}

const undefinedColumn = '42703'

/** The generation of another code version may lack a column; then it counts as having more. */
function otherColumns (error: unknown) {
  if (!(error instanceof DatabaseError) || error.code !== undefinedColumn) throw error
  return { rows: [{ has_more: true, is_ahead: false }] }
}

/** @returns false while it is built, or when it was swapped in meanwhile */
async function tryToDrop (
  pool: Pool, projection: Projection, { generation }: Generation, signal: AbortSignal
): Promise<boolean> {
  try {
    await drop(projection, generation, { pool, signal })
    return true
  } catch (error) {
    if (error instanceof ReplayRefused) return false
    throw error
  }
}

type LogAndRows = Pick<Services, 'pool' | 'streams'>

async function eraseCallOf (
  { pool, streams }: LogAndRows, callId: string, userId: string, requestId: string
): Promise<void> {
  const now = new Date().toISOString()
  await eraseCall({ streams, userId, requestId, now }, callId, await findReport(pool, callId))
}

/** Scavenges hidden events from the store, or notes that an operator must. */
async function scavengeFor ({ streams, pool }: LogAndRows, requestId: string): Promise<void> {
  if (!await streams.scavenge()) await noteUnscavenged(pool, requestId)
}

/**
 * The read models (or the dispatcher) that have not reached the present end of the log. Read models with rows of a
 * former release count as behind: they lack what an erasure looks for.
 */
export async function areBehind (
  { pool, streams, positions }: Pick<Services, 'pool' | 'streams' | 'positions'>
): Promise<string[]> {
  const ofFormer = await outdated(pool, [leads, calls])
  if (ofFormer.length > 0) return ofFormer.map(({ name }) => `${name}, of a former release`)
  return await positions.late(['leads', 'calls', 'catalog', 'deliveries'], await streams.head())
}

const lateCallKind = 'late-call-erasure'

type LateServices = Pick<Services, 'pool' | 'streams' | 'positions'>

/** Stands for the user of calls that have none. */
const nobody = ''

export async function usersOfLateCalls (services: LateServices): Promise<string[]> {
  const users = await findUsersOfLateCalls(services.pool)
  return (await nobodys(services)).length > 0 ? [...users, nobody] : users
}

interface LateProgress { after: string }

export function lateCalls (services: LateServices): BackgroundKind<object, LateProgress> {
  const { pool } = services
  return {
    keepDays,
    async work ({ id, userId, progress: { after = '' } }, turn) {
      for (;;) {
        const calls = await findLateCalls(pool, userId, await nobodys(services), after, callsAtOnce)
        for (const callId of calls) await eraseCallOf(services, callId, userId, id)
        const last = calls.at(-1)
        if (last === undefined) break
        after = last
        await turn.keep({ after })
        if (turn.isOver()) return 'again'
      }
      if ((await areBehind(services)).length > 0) return { state: 'waiting', inMs: 1_000 }
      await scavengeFor(services, id)
      return { state: 'completed' }
    },
    async tidy () {
      for (const userId of await usersOfLateCalls(services)) await addWork(pool, lateCallKind, userId, {}, true)
    }
  }
}
