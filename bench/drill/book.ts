// What the drill has sent, and what of it was acknowledged: each thing has a name that the log must have once.

export interface Kept {
  user: number
  /** Where it is read, and a text that the answer must hold. */
  path: string
  holds: string
}

export const nameOf = {
  lead: (id: number, phone: string) => `lead ${id} with ${phone}`,
  update: (assistant: number, text: string) => `assistant ${assistant}: ${text}`,
  call: (id: string) => `call ${id}`
}

export class Book {
  sent = 0
  tries = 0
  /** Answers that no outage explains. */
  readonly refused: string[] = []
  /** Commands that were never answered with success. */
  readonly unanswered: string[] = []
  readonly acknowledged = new Set<string>()
  /** Each lead and each call, to be read. */
  readonly kept: Kept[] = []
  readonly calls = new Set<string>()
  /** Between two acknowledgements. */
  longestGapMs = 0
  #lastAt = performance.now()

  acknowledge (name: string, kept?: Kept): void {
    const now = performance.now()
    this.longestGapMs = Math.max(this.longestGapMs, now - this.#lastAt)
    this.#lastAt = now
    this.acknowledged.add(name)
    if (kept) this.kept.push(kept)
  }
}
