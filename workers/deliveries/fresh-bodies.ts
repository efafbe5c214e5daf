// Bodies of deliveries that this process has just written and given slots: their first attempt, where it is made here,
// does not read them again. Whatever is not here is in the delivery log.

/** In the memory that their characters take: two bytes each at most. */
const budgetBytes = 8 * 2 ** 20
/** A job that is not here by then is another worker's, or waits. */
const usualMs = 5_000

export class FreshBodies {
  /** The oldest first. */
  readonly #bodies = new Map<string, { body: string, until: number }>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** @param keptMs how long one stays that nobody takes */
  constructor (private readonly keptMs = usualMs) {}

  get size (): number {
    return this.#bodies.size
  }

  /** One that is too large for its place is not kept. */
  keep (deliveryId: string, body: string): void {
    this.take(deliveryId)
    this.#bodies.set(deliveryId, { body, until: performance.now() + this.keptMs })
    this.#bytes += sizeOf(body)
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= budgetBytes) break
      this.take(oldest)
    }
    this.#timer ??= setTimeout(() => this.#forget(), this.keptMs).unref()
  }

  /** Once. */
  take (deliveryId: string): string | undefined {
    const kept = this.#bodies.get(deliveryId)
    if (!kept) return undefined
    this.#bodies.delete(deliveryId)
    this.#bytes -= sizeOf(kept.body)
    return kept.body
  }

  /** What a person's erasure takes out of the log is not to stay in memory. */
  #forget (): void {
    const now = performance.now()
    this.#timer = undefined
    for (const [id, { until }] of this.#bodies) {
      if (until > now) {
        this.#timer = setTimeout(() => this.#forget(), until - now).unref()
        break
      }
      this.take(id)
    }
  }
}

const sizeOf = (body: string) => 2 * body.length
