// Keys of persons on their way into the ledger. Nobody waits for it: who does not find one there finds it in the log.
import type { KeptKey, LedgerKeys } from './ledger-keys.js'

/** Many go in one statement. */
const everyMs = 100
const mostAtOnce = 500

export class KeyNotes {
  readonly #waiting: KeptKey[] = []
  #timer: NodeJS.Timeout | undefined

  constructor (private readonly ledger: Pick<LedgerKeys, 'note'>) {}

  add (keys: readonly KeptKey[]): void {
    this.#waiting.push(...keys)
    if (this.#waiting.length >= mostAtOnce) this.#note()
    else this.#timer ??= setTimeout(() => this.#note(), everyMs).unref()
  }

  /** These were erased: they are not to be written down. */
  drop (keyIds: readonly string[]): void {
    const waiting = this.#waiting.splice(0)
    this.#waiting.push(...waiting.filter(({ keyId }) => !keyIds.includes(keyId)))
  }

  close (): void {
    clearTimeout(this.#timer)
  }

  #note (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.ledger.note(this.#waiting.splice(0)).catch(() => {})
  }
}
