// Keys and revocations as a process knows them: told by Postgres, and looked at where nothing is heard.
import type { Logger } from 'pino'
import { findKeysByHash, findRevokedTokens, KeyUses, revocationChannel, revokedIn } from '../../../projections/keys.js'
import { NotKnownYet } from '../../../projections/engine/positions.js'
import { tryDecode } from '../../domain/events.js'
import { tokenStream } from '../../features/api-keys/events.js'
import type { Credentials } from '../../http/credentials.js'
import type { Listener } from '../../postgres/notifications/notifications.js'
import type { Connections } from '../connections.js'
import { KnownKeys, orNotKnown } from './known-keys.js'
import { RevokedTokens } from './revoked-tokens.js'
import { WhileAsked } from './while-asked.js'

export interface OpenCredentials extends Credentials {
  close (): Promise<void>
}

/** While requests come, it is checked this often that all notifications of before have arrived. */
const askEveryMs = 250

/** While nothing is heard. With the time that a look takes it stays under a second. */
const lookEveryMs = 300
/** While all is heard: what was revoked while its revoker died, before it could tell. */
const lookAnywayMs = 30_000
const lookWithinMs = 2_000

interface Context { connections: Connections, log: Logger }

/**
 * Revocations arrive as notifications; without a connection that listens, by a look every 300 ms. A process without
 * requests neither listens nor looks.
 */
export async function openCredentials (context: Context): Promise<OpenCredentials> {
  const opened = new ListenedCredentials(context)
  await opened.look()
  return opened
}

class ListenedCredentials implements OpenCredentials {
  readonly #keys: KnownKeys
  readonly #tokens: RevokedTokens
  readonly #uses: KeyUses
  readonly #listener: Listener
  readonly #asking = new WhileAsked({ refresh: () => this.look(), keep: () => this.#keep(), everyMs: askEveryMs })
  #listeningSince = Infinity
  #lookedAt = -Infinity

  constructor (private readonly context: Context) {
    const { connections: { pool }, log } = context
    this.#tokens = revokedTokens(context)
    this.#listener = this.#listen()
    this.#keys = new KnownKeys({
      heard: () => ({ since: this.#listeningSince, until: this.#listener.heardUntil() }),
      find: findKeys(context)
    })
    this.#uses = new KeyUses(pool, (error) => log.debug({ err: error }, 'last uses of API keys were not written'))
  }

  findKey (key: string) {
    void this.#asking.asked()
    return this.#keys.find(key) // what was not heard of for long is looked up
  }

  used (keyId: number): void {
    this.#uses.used(keyId)
  }

  isTokenRevoked (jti: string) {
    const looking = this.#asking.asked()
    return looking ? looking.then(() => this.#tokens.isRevoked(jti)) : this.#tokens.isRevoked(jti)
  }

  async close (): Promise<void> {
    this.#asking.close()
    this.#listener.close()
    await this.#uses.close()
  }

  /** What cannot be looked up now is looked up again. */
  async look (): Promise<void> {
    const { log } = this.context
    this.#lookedAt = performance.now()
    await this.#tokens.load().catch((error: unknown) => log.debug({ err: error }, 'revoked tokens could not be looked up'))
  }

  #keep (): void {
    this.#listener.check()
    if (this.#isDue()) void this.look()
  }

  #isDue (): boolean {
    if (this.#tokens.isLoading) return false
    const now = performance.now()
    const isHeard = now - this.#listener.heardUntil() < 2 * lookEveryMs && this.#tokens.isLoaded
    return !isHeard || now - this.#lookedAt > lookAnywayMs
  }

  #listen (): Listener {
    return this.context.connections.notifications.listen(revocationChannel, {
      onNotification: (payload) => this.#heard(payload),
      onListening: () => {
        this.#listeningSince = performance.now()
        void this.look()
      }
    })
  }

  #heard (payload: string): void {
    const revoked = revokedIn(payload)
    if (!revoked) return
    if ('key' in revoked) this.#keys.revoke(revoked.key)
    else this.#tokens.add(revoked.token)
  }
}

const isFilled = async ({ connections: { positions } }: Context) => await positions.passed('keys') !== undefined

function revokedTokens (context: Context): RevokedTokens {
  const { pool, streams } = context.connections
  return new RevokedTokens({
    findAll: async () => await isFilled(context) ? await findRevokedTokens(pool, lookWithinMs) : undefined,
    isRevokedInLog: orNotKnown(async (digest) => {
      const last = await streams.last(tokenStream(digest))
      return last !== undefined && tryDecode(last).event?.type === 'TokenRevoked'
    })
  })
}

function findKeys (context: Context) {
  return orNotKnown(async (hashes: readonly string[]) => {
    if (!await isFilled(context)) throw new NotKnownYet('the read model of API keys is being filled')
    return await findKeysByHash(context.connections.pool, hashes, lookWithinMs)
  })
}
