// How many tasks a worker does at a time, where one job may carry several.

export class Places {
  #taken = 0
  readonly #waiting: Array<() => void> = []

  constructor (private readonly limit: number) {}

  /** Does `work` once there is room; in the order in which it was asked. */
  async run (work: () => Promise<void>): Promise<void> {
    if (this.#taken < this.limit) this.#taken += 1
    else await new Promise<void>((resolve) => { this.#waiting.push(resolve) }) // gets the place of one that ends
    try {
      await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#taken -= 1
    }
  }

  /** For so many more there is room. */
  get free (): number { return this.limit - this.#taken }
}
