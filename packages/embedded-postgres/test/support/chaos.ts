// What chaos tests share: how long they go on, choices that a seed repeats, and a line now and then on their progress.
import { setTimeout as delay } from 'node:timers/promises'

export interface Chaos extends Choices {
  /** `CHAOS_ROUNDS`, or as many as its test usually does. */
  rounds: number
  /** `CHAOS_SEED` repeats what a run has chosen, though not how that met with the work of other processes. */
  seed: number
  /** In ms, for all of the rounds on a busy machine. */
  timeout: number
  /** To be called after each round. Says how far it is, every ten seconds. */
  roundIsOver (found: string): void
}

/** How often a property is tried: `npm run test:long -- properties` multiplies it. */
export const runs = (usual: number): number => usual * Number(process.env.FUZZ_TIMES ?? 1)

/** The value of the variable, which `npm run test:long` draws anew for each part; else 1. */
export const seedOf = (variable: string): number => Number(process.env[variable] ?? 1)

const lineEveryMs = 10_000

interface Clock { setTimeout (ms: number): void }

/** Settings of this run of `name`. Gives the file its time: half a minute a round, and what comes before and after. */
export function chaos (t: Clock, name: string, usualRounds: number, restMs = 120_000): Chaos {
  const rounds = Number(process.env.CHAOS_ROUNDS ?? usualRounds)
  const seed = seedOf('CHAOS_SEED')
  const timeout = restMs + rounds * 30_000
  t.setTimeout(timeout)
  return { rounds, seed, timeout, ...choices(seed), roundIsOver: progress(name, rounds) }
}

function progress (name: string, rounds: number): (found: string) => void {
  const beganAt = Date.now()
  let [over, saidAt] = [0, beganAt]
  return (found) => {
    over++
    const now = Date.now()
    if (now - saidAt < lineEveryMs) return
    saidAt = now
    const each = (now - beganAt) / over / 1000
    const left = `${each.toFixed(1)} s a round, about ${Math.ceil(each * (rounds - over))} s to go`
    process.stderr.write(`${name}: round ${over} of ${rounds}, ${found}; ${left}\n`)
  }
}

export interface Choices {
  /** One of them. */
  pick<Choice> (choices: readonly Choice[]): Choice
  /** True once in so many times. */
  onceIn (times: number): boolean
  /** Resolves at a random instant within so many ms: the instant is what is tried. */
  instant (withinMs: number): Promise<void>
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

/** Numbers in [0, 1), the same ones for the same seed (mulberry32). */
export function seeded (seed: number): () => number {
  let state = seed
  return () => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296
  }
}
