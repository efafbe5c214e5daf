// Erasures of persons, as requests in the background: step by step, each safe to repeat.
//
// It waits until readers have all that the log has of the person: what is parked would be lost. Then the key of the
// person ends, so that nobody can read what is sealed under it. Then every stream that tells of
// the person gets an event that stands for what was before, and that is hidden; readers and the dispatcher follow these
// events. What came meanwhile, under another key, is found by the next round: the last one finds nothing.
import type { Pool } from 'pg'
import type { PersonRequest } from '../../../src/features/persons/model.js'
import { pause } from '../../../src/timing/pause.js'
import type { BackgroundKind, Turn } from '../../background/kind.js'
import { unseal, type SealedRow, type SecretKeys } from '../../../src/privacy/sealed-text.js'
import { forgetAnswers } from './forget-answers.js'
import { forgetDispatched } from './forget-dispatched.js'
import { eraseLedger, type LedgerQuestions } from './ledger.js'
import { erasePendingRows } from './pending-imports.js'
import { anotherRound, begun, type ErasureProgress } from './progress.js'
import type { Person } from './request.js'

/** Days that the row of one is kept after its end; its events stay. */
const keepDays = 1

/** What the log and the read models are asked for, and told. */
export interface ErasureWork extends LedgerQuestions {
  pool: Pool
  keys: SecretKeys
  /** Ends the key of the person. @returns whether there was one */
  endKey (person: Person): Promise<boolean>
  /** The streams of the user that stand for the number. */
  streamsOf (person: Person): Promise<string[]>
  /** After so many milliseconds no process uses a key that was ended. */
  settleMs: number
  /** Who of readers and the dispatcher has not passed yet what the log had when this was called. */
  behind (): Promise<string[]>
  /** Streams with parked events that are of the person, or may be. */
  parked (person: Person, requestId: string): Promise<string[]>
  /** The generations of read models that readers see, in one order. */
  generations (): Promise<number[]>
  /** Whether no other generation has more of the person than these; nothing where readers see others by now. */
  areOnlyIn (
    generations: readonly number[], person: Person, leads: readonly number[], signal: AbortSignal
  ): Promise<boolean | undefined>
  /** Of leads and contacts with the number. */
  leadIds (person: Person): Promise<number[]>
  /** Erases leads, do-not-call entries, and those contacts. @returns whether there were any, or may be */
  eraseNamed (person: Person, leadIds: readonly number[], requestId: string): Promise<boolean>
  /** The next calls that are not erased yet, on the number or of these leads. */
  callIds (person: Person, leads: readonly number[], after: string, most: number): Promise<string[]>
  eraseCall (callId: string, person: Person, requestId: string): Promise<void>
  /** Takes out of the store what is hidden, or notes that its operator has to. */
  scavenge (requestId: string): Promise<void>
  find (id: string): Promise<PersonRequest | undefined>
  end (id: string, isDone: boolean, at: string): Promise<void>
  log: { warn (details: object, message: string): void }
}

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
    async finish ({ id }, ended, at) {
      await work.end(id, ended.state === 'completed', at)
    },
    wasAccepted: async (id) => await work.find(id) !== undefined
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
      // Without the key they cannot be answered any more.
      await forgetAnswers(work.pool, person.userId, await work.streamsOf(person))
      const wasThere = await work.endKey(person)
      return { ...done, step: 'settle', until: wasThere || done.round === 1 ? Date.now() + work.settleMs : 0 }
    }
    case 'settle':
      await pause(Math.max(0, done.until - Date.now()), signal)
      // What an import has begun is to be in the log before its leads are looked for.
      if (signal.aborted) return undefined
      return await isImported(work, person) ?? await areAway(work) ?? { ...done, step: 'leads' }
    case 'leads': {
      const away = await forgetWhatWas(work, person)
      if (away) return away
      const generations = await work.generations()
      return { ...done, step: 'named', generations, leads: [...new Set([...done.leads, ...await work.leadIds(person)])] }
    }
    case 'named':
      return { ...done, step: 'calls', after: '', hasFound: await work.eraseNamed(person, done.leads, id) || done.hasFound }
    case 'calls': {
      const calls = await work.callIds(person, done.leads, done.after, callsAtOnce)
      if (calls.length > 0) return { ...done, step: 'erase-calls', calls, hasFound: true }
      return done.hasFound ? anotherRound(done) : { ...done, step: 'ledger' }
    }
    case 'erase-calls':
      for (const callId of done.calls) await work.eraseCall(callId, person, id)
      return { ...done, step: 'calls', calls: [], after: done.calls.at(-1) ?? done.after }
    case 'ledger':
      // What the events of this erasure say is parked, too, where others came between: they are waited for there.
      if ((await work.parked(person, id)).length > 0) return anotherRound(done)
      return await eraseRest(work, person, done, signal)
    case 'scavenge':
      await work.scavenge(id)
      return { ...done, step: 'done' }
    case 'done': return done
    default: return done.step satisfies never
  }
}

/** The next step finds all that these take in the log, and erases it. What comes after it stays, and is whole. */
async function forgetWhatWas (work: ErasureWork, person: Person): Promise<Waits | undefined> {
  await forgetAnswers(work.pool, person.userId, await work.streamsOf(person))
  await forgetDispatched(work.pool, person)
  return await areAway(work)
}

async function areAway (work: ErasureWork): Promise<Waits | undefined> {
  const behind = await work.behind()
  return behind.length > 0 ? { waitsFor: `who is behind the log: ${behind.join(', ')}`, inMs: 0 } : undefined
}

/** What waits of imports is refused. */
async function isImported (work: ErasureWork, person: Person): Promise<Waits | undefined> {
  const isRefused = await erasePendingRows(work.pool, person)
  return isRefused ? undefined : { waitsFor: 'an import that has begun a row with the number', inMs: 0 }
}

const parkedAgainMs = 10_000
export const parkedEvents = 'parked events'

/** Comes before the key ends: what readers have not taken by then they never will. */
async function isUnread (work: ErasureWork, id: string, person: Person): Promise<Waits | undefined> {
  const away = await areAway(work)
  if (away) return away
  const parked = await work.parked(person, id)
  if (parked.length === 0) return await isImported(work, person)
  const waitsFor = `${parkedEvents}, which an operator retries or skips (ringledger projections quarantine): ${parked.join(', ')}`
  return { waitsFor, inMs: parkedAgainMs }
}

/** What is left beside the log and the rows that readers saw in this round. */
async function eraseRest (
  work: ErasureWork, person: Person, done: ErasureProgress, signal: AbortSignal
): Promise<ErasureProgress | Waits> {
  const areOnly = await work.areOnlyIn(done.generations, person, done.leads, signal)
  if (areOnly === undefined) return anotherRound(done)
  const underWay = areOnly ? await eraseLedger(work, person) : 'a generation of a read model that has more of the person'
  if (underWay !== undefined) return { waitsFor: underWay, inMs: 0 }
  return await erasePendingRows(work.pool, person) ? { ...done, step: 'scavenge' } : anotherRound(done)
}
