// Erasures of persons, as requests in the background: step by step, each safe to repeat.
//
// The key of the person ends first, so that nobody can read what is sealed under it. Then every stream that tells of
// the person gets an event that stands for what was before, and that is hidden; readers and the dispatcher follow these
// events. What came meanwhile, under another key, is found by the next round: the last one finds nothing.
import type { Pool } from 'pg'
import type { PersonRequest } from '../../../src/domain/person/decide.js'
import { pause } from '../../../src/timing/pause.js'
import type { BackgroundKind, Turn } from '../../background/kind.js'
import { unseal, type SealedRow, type SecretKeys } from '../../../src/sealing/sealed-text.js'
import { forgetDispatched } from './forget-dispatched.js'
import { eraseLedger, type LedgerQuestions } from './ledger.js'
import { erasePendingRows } from './pending-imports.js'
import { anotherRound, begun, type ErasureProgress } from './progress.js'
import { refuseRetriesOf } from './refuse-retries.js'
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
  /** Whether readers and the dispatcher have passed all that the log had when this was called. */
  hasCome (): Promise<boolean>
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
        await turn.keep(next)
        done = next
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

/** What is kept when the step is done; nothing while it waits for others. */
async function stepOf (
  work: ErasureWork, id: string, person: Person, done: ErasureProgress, { signal }: Turn<ErasureProgress>
): Promise<ErasureProgress | undefined> {
  switch (done.step) {
    case 'key': {
      if (done.round > mostRounds) throw new Error('what is known of a person grows while it is erased')
      // Without the key they cannot be answered any more.
      await refuseRetriesOf(work.pool, person.userId, await work.streamsOf(person))
      const wasThere = await work.endKey(person)
      return { ...done, step: 'settle', until: wasThere || done.round === 1 ? Date.now() + work.settleMs : 0 }
    }
    case 'settle':
      await pause(Math.max(0, done.until - Date.now()), signal)
      // What an import has begun is to be in the log before its leads are looked for.
      if (!signal.aborted && !await erasePendingRows(work.pool, person)) return await waited(signal)
      return !signal.aborted && await work.hasCome() ? { ...done, step: 'leads' } : undefined
    case 'leads': {
      if (!await forgetWhatWas(work, person)) return undefined
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
    case 'ledger': return await eraseRest(work, person, done, signal)
    case 'scavenge':
      await work.scavenge(id)
      return { ...done, step: 'done' }
    case 'done': return done
    default: return done.step satisfies never
  }
}

/** The next step finds all that these take in the log, and erases it. What comes after it stays, and is whole. */
async function forgetWhatWas (work: ErasureWork, person: Person): Promise<boolean> {
  await refuseRetriesOf(work.pool, person.userId, await work.streamsOf(person))
  await forgetDispatched(work.pool, person)
  return await work.hasCome()
}

/** What is left beside the log and the rows that readers saw in this round. */
async function eraseRest (
  work: ErasureWork, person: Person, done: ErasureProgress, signal: AbortSignal
): Promise<ErasureProgress | undefined> {
  const areOnly = await work.areOnlyIn(done.generations, person, done.leads, signal)
  if (areOnly === undefined) return anotherRound(done)
  if (!areOnly || !await eraseLedger(work, person)) return await waited(signal)
  return await erasePendingRows(work.pool, person) ? { ...done, step: 'scavenge' } : anotherRound(done)
}

const lookAgainMs = 500

async function waited (signal: AbortSignal): Promise<undefined> {
  await pause(lookAgainMs, signal)
  return undefined
}
