// Tokens that were ended before their time, in memory. What was revoked once stays so: nothing is ever taken out.
import { digestOf } from '../../http/credentials.js'

export interface RevokedTokensOptions {
  /** Every digest; nothing while the read model is filled for the first time. */
  findAll (): Promise<string[] | undefined>
  /** Whether its own stream says it: asked while nothing else is known. */
  isRevokedInLog (digest: string): Promise<boolean>
}

export class RevokedTokens {
  readonly #digests = new Set<string>()
  #isLoaded = false
  #loading = Promise.resolve()
  #isLoading = false

  constructor (private readonly options: RevokedTokensOptions) {}

  isRevoked (jti: string): boolean | Promise<boolean> {
    const digest = digestOf(jti)
    if (this.#digests.has(digest)) return true
    return this.#isLoaded ? false : this.options.isRevokedInLog(digest)
  }

  get isLoaded (): boolean { return this.#isLoaded }
  get isLoading (): boolean { return this.#isLoading }

  add (digest: string): void {
    this.#digests.add(digest)
  }

  /** Loads all that there are, in a look that begins now or later: an earlier one may miss the newest. */
  async load (): Promise<void> {
    this.#loading = this.#loading.catch(() => {}).then(() => this.#load())
    await this.#loading
  }

  async #load (): Promise<void> {
    this.#isLoading = true
    try {
      const found = await this.options.findAll()
      if (!found) return
      for (const digest of found) this.#digests.add(digest)
      this.#isLoaded = true
    } finally {
      this.#isLoading = false
    }
  }
}
