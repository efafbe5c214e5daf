// Erasures of persons, as requests in the background: step by step, each safe to repeat.
//
// It waits until readers have all that the log has of the person: what is parked would be lost. Then the key of the
// person ends, so that nobody can read what is sealed under it. Then every stream that tells of
// the person gets an event that stands for what was before, and that is hidden; readers and the dispatcher follow these
// events. What came meanwhile, under another key, is found by the next round: the last one finds nothing. Calls
// that are reported later are erased without anybody asking again.
import { calls } from '../../projections/calls.js'
import {
  activeGeneration, outdated, checkpointOf, generationsOf, isFed, leaseOf, schemaOf, type Generation
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

/** Days that the row of one is kept after its end; its events stay. */
const keepDays = 1

export interface ErasureWork extends NamedServices, Pick<Services, 'keys' | 'personKeys'> {
  log: { warn (details: object, message: string): void }
  /** After so many milliseconds no process uses a key that was ended. */
  settleMs?: number
  behind?: typeof areBehind
}

type Step = 'key' | 'settle' | 'leads' | 'named' | 'calls' | 'erase-calls' | 'ledger' | 'scavenge' | 'done'

export interface ErasureProgress {
  step: Step
  round: number
  /** Until when the step waits, in milliseconds since 1970. */
  until: number
  /** Of all rounds: their calls are found by them when their rows have no number any more. */
  leads: number[]
  /** Of read models, that this round looks through. */
  generations: number[]
  /** Calls that may be half erased, and up to which one this round has come. */
  calls: string[]
  after: string
  /** Whether this round found anything. */
  hasFound: boolean
  /** Why the last look had to wait, in words for its user; absent where it went on. */
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

/** Whoever asks for the request is told why, and its operator is, once. */
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

/** What is kept when the step is done; why it waits, or nothing where that takes moments. */
async function stepOf (
  work: ErasureWork, id: string, person: Person, done: ErasureProgress, { signal }: Turn<ErasureProgress>
): Promise<ErasureProgress | Waits | undefined> {
  switch (done.step) {
    case 'key': {
      if (done.round > mostRounds) throw new Error('what is known of a person grows while it is erased')
      const waits = await isUnread(work, id, person)
      if (waits) return waits
      const { settleMs = keyTrustedMs } = work
      // Without the key they cannot be answered any more.
      await forgetAnswers(work.pool, person.userId, await streamsOf(work, person))
      const wasThere = await work.personKeys.erase(person.userId, person.phoneNumber)
      return { ...done, step: 'settle', until: wasThere || done.round === 1 ? Date.now() + settleMs : 0 }
    }
    case 'settle':
      await pause(Math.max(0, done.until - Date.now()), signal)
      // What an import has begun is to be in the log before its leads are looked for.
      if (signal.aborted) return undefined
      return await isImported(work, person) ?? await areAway(work) ?? { ...done, step: 'leads' }
    case 'leads': {
      // This step finds all that these take in the log, and erases it. What comes after it stays, and is whole.
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
      // What the events of this erasure say is parked, too, where others came between: they are waited for there.
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

/** What waits of imports is refused. */
async function isImported (work: ErasureWork, person: Person): Promise<Waits | undefined> {
  const isRefused = await erasePendingRows(work.pool, person)
  return isRefused ? undefined : { waitsFor: 'an import that has begun a row with the number', inMs: 0 }
}

const parkedAgainMs = 10_000

/** Comes before the key ends: what readers have not taken by then they never will. */
async function isUnread (work: ErasureWork, id: string, person: Person): Promise<Waits | undefined> {
  const away = await areAway(work)
  if (away) return away
  const parked = await parkedOf(work, person, id)
  if (parked.length === 0) return await isImported(work, person)
  return { waitsFor: parkedEventsOf(parked), inMs: parkedAgainMs }
}

/** What is left beside the log and the rows that readers saw in this round. */
async function eraseRest (
  work: ErasureWork, person: Person, done: ErasureProgress, signal: AbortSignal
): Promise<ErasureProgress | Waits> {
  const areOnly = await areOnlyIn(work, person, done, signal)
  if (areOnly === undefined) return anotherRound(done)
  const underWay = areOnly ? await eraseLedger(work, person) : 'a generation of a read model that has more of the person'
  if (underWay !== undefined) return { waitsFor: underWay, inMs: 0 }
  return await erasePendingRows(work.pool, person) ? { ...done, step: 'scavenge' } : anotherRound(done)
}

/** Those that have rows of persons. */
const readModels = [{ projection: leads, keysIn: leadKeys }, { projection: calls, keysIn: callKeys }]

/**
 * Whether no other generation has more of the person than those that this round has looked through; nothing where
 * readers see others by now.
 *
 * Other generations that are fed follow the log, too, and so will one of a replay that is under way. A generation that
 * still has data of the person was built while it could be read, and is dropped. So is a generation that nobody feeds:
 * one of other code that was kept to go back to, one of a replay that broke off, and one whose drop broke off. While
 * one of them is behind, or not dropped yet, the answer is no.
 */
async function areOnlyIn (
  { pool, streams }: ErasureWork, { userId, phoneNumber }: Person, { generations, leads }: ErasureProgress,
  signal: AbortSignal
): Promise<boolean | undefined> {
  const head = await streams.head()
  let areOnly = true
  for (const [nth, { projection, keysIn }] of readModels.entries()) {
    const all = await generationsOf(pool, projection)
    const active = all.find(({ state }) => state === 'active')?.generation
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

/** Whether it has keys that readers do not see. Nothing while that cannot be said. */
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
  return found.is_ahead ? undefined : true // what came just now is in both, soon
}

const undefinedColumn = '42703'

/** Of other code. */
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

/** Takes out of the store what is hidden, or notes that its operator has to. */
async function scavengeFor ({ streams, pool }: LogAndRows, requestId: string): Promise<void> {
  if (!await streams.scavenge()) await noteUnscavenged(pool, requestId)
}

/**
 * Which readers have not passed yet what the log has now, or the dispatcher. Nor have those whose rows are of a former
 * release: they lack what an erasure looks for.
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

/** As the user of calls that have none. */
const nobody = ''

/** Who has such calls. */
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
      if ((await areBehind(services)).length > 0) return 'again'
      await scavengeFor(services, id)
      return { state: 'completed' }
    },
    async tidy () {
      for (const userId of await usersOfLateCalls(services)) await addWork(pool, lateCallKind, userId, {}, true)
    }
  }
}
