// How far an erasure has come.

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

export const begun: ErasureProgress = {
  step: 'key', round: 1, until: 0, leads: [], generations: [], calls: [], after: '', hasFound: false
}

export const anotherRound = (done: ErasureProgress): ErasureProgress =>
  ({ ...done, step: 'key', round: done.round + 1, hasFound: false })
