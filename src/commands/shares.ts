// Shares of something that a process has little of: what is taken at once has a bound, and others wait in turn.

/** Releases the share; a second call does nothing. */
export type Release = () => void

interface Account {
  taken: number
  /** In the order in which they came. */
  waiting: Set<Waiting>
}

interface Waiting {
  amount: number
  take: () => void
}

/** Each owner has `most` at once, whatever others take. */
export class Shares {
  readonly #accounts = new Map<string, Account>()

  /** `waitMs` is how long one waits for a share. */
  constructor (private readonly most: number, private readonly waitMs: number) {}

  /** How many owners have a share or wait for one. */
  get owners (): number {
    return this.#accounts.size
  }

  /** Whether `acquire` would not wait. */
  hasFree (owner: string, wanted = 1): boolean {
    const { taken, waiting } = this.#accounts.get(owner) ?? { taken: 0, waiting: new Set() }
    return waiting.size === 0 && taken + Math.min(wanted, this.most) <= this.most
  }

  /**
   * @param wanted more than an owner may have counts as all of it
   * @returns releases the share; undefined when none became free in time, or `gone` was aborted first
   */
  async acquire (owner: string, gone?: AbortSignal, wanted = 1): Promise<Release | undefined> {
    const account = this.#accounts.get(owner) ?? { taken: 0, waiting: new Set() }
    this.#accounts.set(owner, account)
    const amount = Math.min(wanted, this.most)
    if (this.hasFree(owner, amount)) account.taken += amount
    else if (!await this.#turn(account, amount, gone)) return this.#passOn(owner, account)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      account.taken -= amount
      this.#passOn(owner, account)
    }
  }

  #turn ({ waiting }: Account, amount: number, gone?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isMine: boolean) => {
        clearTimeout(patience)
        waiting.delete(mine)
        gone?.removeEventListener('abort', leave)
        resolve(isMine)
      }
      const mine = { amount, take: () => { settle(true) } }
      const leave = () => { settle(false) }
      const patience = setTimeout(leave, this.waitMs)
      waiting.add(mine)
      gone?.addEventListener('abort', leave)
      if (gone?.aborted) leave()
    })
  }

  /** To those who wait, the first one first, as far as it goes. */
  #passOn (owner: string, account: Account): undefined {
    for (const { amount, take } of account.waiting) {
      if (account.taken + amount > this.most) break
      account.taken += amount
      take()
    }
    if (account.taken === 0 && account.waiting.size === 0) this.#accounts.delete(owner)
  }
}
