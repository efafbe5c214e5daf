// Whether what a connection was asked is answered, and since when it is not.

/** Watches the questions of one connection. */
export class Liveness {
  readonly #asked = new Set<{ at: number }>()
  #failingSince: number | undefined

  /** What `work` does, which may take `mayTakeMs` when all is well. An error counts as no answer. */
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

  /** Something else was answered on the connection, while a question is under way that takes its time. */
  answered (): void {
    this.#failingSince = undefined
  }

  /** The last answer was an error. */
  get isFailing (): boolean { return this.#failingSince !== undefined }

  /** For how long nothing was answered that was asked, in milliseconds; 0 when all is well. */
  silentMs (): number {
    const [oldest] = this.#asked // a Set keeps the order in which they came
    const since = Math.min(oldest?.at ?? Infinity, this.#failingSince ?? Infinity)
    return since === Infinity ? 0 : Math.max(0, performance.now() - since)
  }
}
