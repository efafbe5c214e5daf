// Erasures of persons, as requests in the background: step by step, each safe to repeat.
//
// The key of the person ends first, so that nobody can read what is sealed under it. Then every stream that tells of
// the person gets an event that stands for what was before, and that is hidden; readers and the dispatcher follow these
// events. What came meanwhile, under another key, is found by the next round: the last one finds nothing.
import type { Pool } from 'pg'
import type { PersonRequest } from '../../../src/domain/person/decide.js'
import { pause } from '../../../src/subscriptions/pause.js'
import type { BackgroundKind, Turn } from '../../background/kind.js'
import { unseal, type SealedRow, type SecretKeys } from '../../../src/sealing/sealed-text.js'
import { forgetDispatched } from './forget-dispatched.js'
import { eraseLedger, type LedgerQuestions } from './ledger.js'
import { erasePendingRows } from './pending-imports.js'
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
  /** Whether no other generation of a read model has more of the person than the active one. */
  isOnlyGeneration (signal: AbortSignal): Promise<boolean>
  /** Of leads and contacts with the number. */
  leadIds (person: Person): Promise<number[]>
  /** Erases leads, contacts and do-not-call entries. @returns whether there were any, or may be */
  eraseNamed (person: Person, requestId: string): Promise<boolean>
  /** The next calls that are not erased yet, on the number or of these leads. */
  callIds (person: Person, leads: readonly number[], after: string, most: number): Promise<string[]>
  eraseCall (callId: string, person: Person, requestId: string): Promise<void>
  /** Takes out of the store what is hidden, or notes that its operator has to. */
  scavenge (requestId: string): Promise<void>
  find (id: string): Promise<PersonRequest | undefined>
  end (id: string, isDone: boolean, at: string): Promise<void>
}

type Step = 'key' | 'settle' | 'leads' | 'named' | 'calls' | 'erase-calls' | 'ledger' | 'scavenge' | 'done'

export interface ErasureProgress {
  step: Step
  round: number
  /** Until when the step waits, in milliseconds since 1970. */
  until: number
  /** Of all rounds: their calls are found by them when their rows have no number any more. */
  leads: number[]
  /** Calls that may be half erased, and up to which one this round has come. */
  calls: string[]
  after: string
  /** Whether this round found anything. */
  hasFound: boolean
}

const begun: ErasureProgress = { step: 'key', round: 1, until: 0, leads: [], calls: [], after: '', hasFound: false }

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
    case 'leads':
      if (!await forgetWhatWas(work, person)) return undefined
      return { ...done, step: 'named', leads: [...new Set([...done.leads, ...await work.leadIds(person)])] }
    case 'named':
      return { ...done, step: 'calls', after: '', hasFound: await work.eraseNamed(person, id) || done.hasFound }
    case 'calls': {
      const calls = await work.callIds(person, done.leads, done.after, callsAtOnce)
      if (calls.length > 0) return { ...done, step: 'erase-calls', calls, hasFound: true }
      return done.hasFound ? anotherRound(done) : { ...done, step: 'ledger' }
    }
    case 'erase-calls':
      for (const callId of done.calls) await work.eraseCall(callId, person, id)
      return { ...done, step: 'calls', calls: [], after: done.calls.at(-1) ?? done.after }
    case 'ledger':
      if (!await work.isOnlyGeneration(signal)) return undefined
      if (!await eraseLedger(work, person)) return await waited(signal)
      return await erasePendingRows(work.pool, person) ? { ...done, step: 'scavenge' } : anotherRound(done)
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

const anotherRound = (done: ErasureProgress): ErasureProgress =>
  ({ ...done, step: 'key', round: done.round + 1, hasFound: false })

const lookAgainMs = 500

async function waited (signal: AbortSignal): Promise<undefined> {
  await pause(lookAgainMs, signal)
  return undefined
}
