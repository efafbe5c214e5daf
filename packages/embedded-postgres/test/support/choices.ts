// Random choices that a seed repeats.
import { setTimeout as delay } from 'node:timers/promises'
import { seeded } from './seeded.js'

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
