// The public keys that an issuer publishes: fetched, kept and renewed; unknown key ids do not fetch them each time.
import { KeyObject } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import {
  createRemoteJWKSet, customFetch, type CryptoKey, type FetchImplementation, type JWTHeaderParameters
} from 'jose'

export interface IssuerKeys {
  /** The key of a token's header, as PEM. @throws when no key of the issuer fits, or none is known yet */
  find (header: JWTHeaderParameters): Promise<string>
  close (): void
}

/** Keys are renewed this often without being asked, so that one that was withdrawn stops working. */
const renewEveryMs = 10 * 60_000
const retryMs = 5_000
const timeoutMs = 3_000
/** Bytes; of an answer that is longer nothing is taken, and the rest is not read. */
const longestAnswer = 512 * 1024

/**
 * Keys stay known while the issuer cannot be reached. An unknown key id asks the issuer again, at most once in
 * `cooldownMs`; that is how a rotation is noticed. Plain http is for loopback.
 */
export function issuerKeys (address: string, log: FastifyBaseLogger, cooldownMs = 30_000): IssuerKeys {
  const url = new URL(address)
  const isLoopback = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !isLoopback) throw new Error('keys are only taken from an https address')
  const keys = createRemoteJWKSet(url, {
    timeoutDuration: timeoutMs,
    cacheMaxAge: Infinity,
    cooldownDuration: cooldownMs,
    [customFetch]: spaced(fetchInBounds, Math.min(cooldownMs, retryMs))
  })
  const pems = new WeakMap<CryptoKey, string>()
  const renew = () => {
    keys.reload().catch((error: unknown) => {
      log.warn({ err: error }, 'the keys of the token issuer could not be fetched')
    })
  }
  const timer = setInterval(renew, renewEveryMs).unref()
  renew()

  return {
    async find (header) {
      const key = await keys(header)
      const pem = pems.get(key) ?? KeyObject.from(key).export({ type: 'spki', format: 'pem' }).toString()
      pems.set(key, pem)
      return pem
    },
    close: () => clearInterval(timer)
  }
}

/** jose's cooldown begins with keys that were fetched; this one also holds while the issuer is away. */
function spaced (fetchKeys: FetchImplementation, everyMs: number): FetchImplementation {
  let notBefore = 0
  return async (url, options) => {
    if (Date.now() < notBefore) throw new Error('the token issuer was asked for its keys a moment ago')
    notBefore = Date.now() + everyMs
    return await fetchKeys(url, options)
  }
}

/** jose follows no redirect and has a deadline for the whole answer, but would take one of any length. */
const fetchInBounds: FetchImplementation = async (url, options) => {
  const { body, status, headers } = await fetch(url, options)
  let length = 0
  const counted = body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
    transform (chunk, controller) {
      length += chunk.length
      if (length > longestAnswer) controller.error(new Error(`the answer is longer than ${longestAnswer} bytes`))
      else controller.enqueue(chunk)
    }
  }))
  return new Response(counted ?? null, { status, headers })
}
