// Checks API keys and revoked tokens against Postgres, at most 700 ms out of date.
import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'
import { findKeysByHash, findRevokedTokens, KeyUses, type KnownKey } from '../../projections/keys.js'
import { NotKnownYet } from '../../projections/engine/positions.js'
import { tryDecode } from '../domain/events.js'
import { tokenStream } from '../features/api-keys/events.js'
import { digestOf, keyPattern, type ApiKeyUser, type Credentials, type KeyRefusal } from '../http/credentials.js'
import type { Streams } from '../log/event-log.js'
import { batcher } from '../postgres/batcher.js'
import { endsWithin, joinRunning } from '../timing.js'

/** Plus the time of a lookup, a revocation takes effect within a second. */
const trustedMs = 700
const lookWithinMs = 2_000
/** How long a token waits for a lookup. When Postgres is away, tokens known as revoked are still refused. */
const waitMs = 500

/** About ten megabytes. */
const rememberedKeys = 20_000
/** Uncached keys per query. */
const mostAtOnce = 500

interface Looked {
  pool: Pool
  streams: Pick<Streams, 'last'>
  positions: { passed (source: string): Promise<bigint | undefined> }
  log: { debug (details: object, message: string): void }
}

/** Looks things up only on requests. */
export function openCredentials ({ pool, streams, positions, log }: Looked): Credentials & { close (): Promise<void> } {
  const isFilled = async () => await positions.passed('keys') !== undefined
  const uses = new KeyUses(pool, (error) => log.debug({ err: error }, 'last uses of API keys were not written'))
  // One query at a time, so that strangers who guess keys take one connection at most.
  const lookUp = batcher<string, KnownKey | undefined>({
    async runBatch (hashes) {
      if (!await isFilled()) throw new NotKnownYet('the read model of API keys is being filled')
      const found = await findKeysByHash(pool, hashes, lookWithinMs)
      return hashes.map((hash) => found.findLast((key) => key.hash === hash))
    },
    isOfOne: () => false,
    limit: mostAtOnce
  })
  const keys = new LRUCache<string, KnownKey>({
    max: rememberedKeys,
    ttl: trustedMs,
    ignoreFetchAbort: true,
    async fetchMethod (hash, _stale, { options }) {
      const askedAt = performance.now()
      const found = await lookUp(hash)
      options.ttl = Math.max(1, trustedMs - (performance.now() - askedAt)) // an answer is as old as its question
      return found // an unknown one is not cached: a key that is created now works at once
    }
  })
  const revoked = revokedTokens(async () => await isFilled() ? await findRevokedTokens(pool, lookWithinMs) : undefined,
    (error) => log.debug({ err: error }, 'revoked tokens could not be looked up'))
  return {
    async findKey (key) {
      if (!keyPattern.test(key)) return 'key-unknown'
      return judge(await orNotKnown(keys.fetch(digestOf(key))))
    },
    used: (keyId) => uses.used(keyId),
    async isTokenRevoked (jti) {
      const digest = digestOf(jti)
      return (await revoked())?.has(digest) ?? await orNotKnown(streams.last(tokenStream(digest)).then((last) =>
        last !== undefined && tryDecode(last).event?.type === 'TokenRevoked'))
    },
    close: () => uses.close()
  }
}

function judge (key: KnownKey | undefined): ApiKeyUser | KeyRefusal {
  if (!key) return 'key-unknown'
  const { api_key_id: id, user_id, name, scopes, expires_at } = key
  if (key.is_revoked) return 'key-revoked'
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'key-expired'
  return { id, user_id, name, scopes }
}

/** The digests that the last lookup found; undefined before the first one. */
function revokedTokens (find: () => Promise<string[] | undefined>, onError: (error: unknown) => void) {
  let digests: ReadonlySet<string> | undefined
  let [beganAt, isAsOf] = [-Infinity, -Infinity]
  const look = joinRunning(async () => {
    beganAt = performance.now()
    const found = await find().catch(onError)
    if (!found) return
    digests = new Set(found)
    isAsOf = beganAt
  })
  return async () => {
    if (performance.now() - isAsOf < trustedMs) return digests
    const looking = look()
    await endsWithin(Math.max(0, beganAt + waitMs - performance.now()), looking)
    return digests
  }
}

/** When a lookup fails, the caller is neither accepted nor refused: NotKnownYet. */
async function orNotKnown<Found> (found: Promise<Found>): Promise<Found> {
  return await found.catch((cause: unknown) => {
    if (cause instanceof NotKnownYet) throw cause
    throw Object.assign(new NotKnownYet('who sends it cannot be known right now'), { cause })
  })
}
