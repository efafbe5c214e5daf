// What chaos tests share: how long they go on, choices that a seed repeats, and a line now and then on how far they are.
import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from './seeded.js'

export interface Chaos extends Choices {
  /** `CHAOS_ROUNDS`, or as many as fit into `npm test`. */
  rounds: number
  /** `CHAOS_SEED` repeats what a run has chosen, though not how that met with the work of other processes. */
  seed: number
  /** In ms, for all of the rounds on a busy machine. */
  timeout: number
  /** To be called after each round. Says how far it is, every ten seconds. */
  roundIsOver (found: string): void
}

export interface Choices {
  /** One of them. */
  pick<Choice> (choices: readonly Choice[]): Choice
  /** True once in so many times. */
  onceIn (times: number): boolean
  /** Resolves at a random instant within so many ms: the instant is what is tried. */
  instant (withinMs: number): Promise<void>
}

/** `npm run chaos` and `npm run scale`: tests take the time that they need. */
export const isInFull = process.env.TESTS_AT_LENGTH !== undefined || process.env.CHAOS_ROUNDS !== undefined

/** How much a test does: little in `npm test`, all of it in `npm run chaos` or `npm run scale`. */
export const amount = ({ short, whole }: { short: number, whole: number }): number => isInFull ? whole : short

/** What the variable says; without it one that stays the same in `npm test`, and another each time when tests run at length. */
export const seedOf = (variable: string): number => Number(process.env[variable] ?? (isInFull ? Math.floor(Math.random() * 2 ** 31) : 1))

const lineEveryMs = 10_000

interface Clock { setTimeout (ms: number): void }

/** Settings of this run of `name`. Gives the file its time: half a minute a round, and what comes before and after. */
export function chaos (t: Clock, name: string, usualRounds: number, restMs = 120_000): Chaos {
  const rounds = Number(process.env.CHAOS_ROUNDS ?? usualRounds)
  const seed = seedOf('CHAOS_SEED')
  const beganAt = Date.now()
  let [over, saidAt] = [0, beganAt]
  const timeout = restMs + rounds * 30_000
  t.setTimeout(timeout)
  return {
    rounds,
    seed,
    timeout,
    ...choices(seed),
    roundIsOver (found) {
      over++
      const now = Date.now()
      if (now - saidAt < lineEveryMs) return
      saidAt = now
      const each = (now - beganAt) / over
      process.stderr.write(`${name}: round ${over} of ${rounds}, ${found}; ${(each / 1000).toFixed(1)} s a round, about ${Math.ceil(each * (rounds - over) / 1000)} s to go\n`)
    }
  }
}

/** The same ones for the same seed. */
export function choices (seed: number): Choices {
  const random = seeded(seed)
  return {
    pick (choices) {
      const choice = choices[Math.floor(random() * choices.length)]
      if (choice === undefined) throw new Error('There is nothing to choose from')
      return choice
    },
    onceIn: (times) => random() * times < 1,
    instant: (withinMs) => delay(random() * withinMs)
  }
}
