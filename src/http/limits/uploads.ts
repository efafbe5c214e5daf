// How many files of a user are being read, and how parsing makes way for other requests.
import { setTimeout as delay } from 'node:timers/promises'

/** Parsing makes others wait for so long, and then rests for three times that. */
const burstMs = 2
const restMs = 3 * burstMs

interface User { reading: number, turn: Promise<unknown> }

export class Uploads {
  readonly #users = new Map<string, User>()
  #turn = Promise.resolve()

  /** How many uploads of the user are being read. */
  reading (userId: string): number {
    return this.#users.get(userId)?.reading ?? 0
  }

  /** `turn` waits for the upload's turn, and answers until when it lasts; `end` does nothing when called again. */
  begin (userId: string): { turn (): Promise<number>, end (): void } {
    const user = this.#users.get(userId) ?? { reading: 0, turn: Promise.resolve() }
    this.#users.set(userId, user)
    user.reading++
    let isOver = false
    return {
      turn: async () => { // users take turns, and so do the uploads of each
        user.turn = user.turn.then(() => this.#next())
        await user.turn
        return performance.now() + burstMs
      },
      end: () => {
        if (!isOver && --user.reading === 0) this.#users.delete(userId)
        isOver = true
      }
    }
  }

  #next (): Promise<void> {
    const turn = this.#turn
    this.#turn = turn.then(() => delay(burstMs + restMs))
    return turn
  }
}
