// Limits what one owner has at once; further callers wait in turn.

/** Releases the share; a second call does nothing. */
export type Release = () => void

interface Account {
  taken: number
  /** Oldest first; each is called once it has its share. */
  waiting: Set<() => void>
}

/** Each owner may have `most` shares at once, whatever others have. */
export class Shares {
  readonly #accounts = new Map<string, Account>()

  /** @param waitMs how long a caller waits for a share */
  constructor (private readonly most: number, private readonly waitMs: number) {}

  /** Whether `acquire` would not wait. */
  hasFree (owner: string): boolean {
    const { taken, waiting } = this.#accounts.get(owner) ?? { taken: 0, waiting: new Set() }
    return waiting.size === 0 && taken < this.most
  }

  /** @returns releases the share; undefined when none became free in time, or `gone` was aborted first */
  async acquire (owner: string, gone?: AbortSignal): Promise<Release | undefined> {
    const account = this.#accounts.get(owner) ?? { taken: 0, waiting: new Set() }
    this.#accounts.set(owner, account)
    if (this.hasFree(owner)) account.taken++
    else if (!await this.#turn(account, gone)) return this.#passOn(owner, account)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      account.taken--
      this.#passOn(owner, account)
    }
  }

  #turn ({ waiting }: Account, gone?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isMine: boolean) => {
        clearTimeout(patience)
        waiting.delete(take)
        gone?.removeEventListener('abort', leave)
        resolve(isMine)
      }
      const take = () => { settle(true) }
      const leave = () => { settle(false) }
      const patience = setTimeout(leave, this.waitMs)
      waiting.add(take)
      gone?.addEventListener('abort', leave)
      if (gone?.aborted) leave()
    })
  }

  /** Hands free shares to the waiting callers, oldest first. */
  #passOn (owner: string, account: Account): undefined {
    for (const take of account.waiting) {
      if (account.taken === this.most) break
      account.taken++
      take()
    }
    if (account.taken === 0 && account.waiting.size === 0) this.#accounts.delete(owner)
  }
}
