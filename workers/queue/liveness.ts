// Tracks whether a connection answers its requests, and since when it does not.

export class Liveness {
  readonly #asked = new Set<{ at: number }>()
  #failingSince: number | undefined

  /** An error counts as no answer. @param mayTakeMs how long `work` may take when all is well */
  async watch<Answer> (work: () => Promise<Answer>, mayTakeMs = 0): Promise<Answer> {
    const question = { at: performance.now() + mayTakeMs }
    this.#asked.add(question)
    try {
      const answer = await work()
      this.#failingSince = undefined
      return answer
    } catch (error) {
      this.#failingSince ??= Math.min(question.at, performance.now())
      throw error
    } finally {
      this.#asked.delete(question)
    }
  }

  /** The connection answered something else while a long request is under way. */
  answered (): void {
    this.#failingSince = undefined
  }

  /** The last answer was an error. */
  get isFailing (): boolean { return this.#failingSince !== undefined }

  /** How long requests have had no answer, in milliseconds; 0 when all is well. */
  silentMs (): number {
    const [oldest] = this.#asked // a Set keeps insertion order
    const since = Math.min(oldest?.at ?? Infinity, this.#failingSince ?? Infinity)
    return since === Infinity ? 0 : Math.max(0, performance.now() - since)
  }
}
