// How many bytes of bodies this worker holds for its attempts: attempts beyond the budget wait before they start.

/** Design, section 13: bodies in flight in a worker, each once. */
export const bodyBudget = 64 * 1024 * 1024

/** What an attempt holds of the budget. */
export interface Hold {
  /** Says how long the body is; it may be longer than what was asked for. */
  resize (bytes: number): void
  release (): void
}

/** Gives bytes in the order in which they are asked for. */
export class BodyBudget {
  #held = 0
  readonly #waiting: { bytes: number, resolve (hold: Hold): void }[] = []

  constructor (private readonly limit: number) {}

  /** Waits until `bytes` are free, or until nobody holds any: more than the whole budget comes alone. */
  async acquire (bytes: number): Promise<Hold> {
    return await new Promise((resolve) => {
      this.#waiting.push({ bytes, resolve })
      this.#give()
    })
  }

  #give (): void {
    for (let [next] = this.#waiting; next && this.#fits(next.bytes); [next] = this.#waiting) {
      this.#waiting.shift()
      next.resolve(this.#hold(next.bytes))
    }
  }

  #fits (bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.limit
  }

  #hold (asked: number): Hold {
    let bytes = 0
    const resize = (to: number) => {
      this.#held += to - bytes
      bytes = to
    }
    resize(asked)
    const give = (to: number) => {
      resize(to)
      this.#give()
    }
    return { resize: give, release: () => give(0) }
  }
}
