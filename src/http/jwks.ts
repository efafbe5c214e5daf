// The public keys that an issuer publishes: fetched, kept, renewed, and never once for each unknown key id.
import { KeyObject } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { createRemoteJWKSet, customFetch, errors, type CryptoKey, type FetchImplementation, type JWTHeaderParameters } from 'jose'

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
 * `cooldownMs`; how rotation is noticed. Plain http is for loopback.
 */
export function issuerKeys (address: string, log: FastifyBaseLogger, cooldownMs = 30_000): IssuerKeys {
  const url = new URL(address)
  if (url.protocol !== 'https:' && !/^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname)) throw new Error('keys are only taken from an https address')
  // When to fetch is decided here: jose would forget all keys when they are old and the issuer is away.
  const keys = createRemoteJWKSet(url, { timeoutDuration: timeoutMs, cacheMaxAge: Infinity, cooldownDuration: Infinity, [customFetch]: fetchInBounds })
  const pems = new WeakMap<CryptoKey, string>()
  let areKnown = false
  let notBefore = 0
  let fetching: Promise<void> | undefined

  async function fetchKeys (): Promise<void> {
    notBefore = Date.now() + cooldownMs
    try {
      await keys.reload()
      areKnown = true
    } catch (error) {
      notBefore = Date.now() + Math.min(cooldownMs, retryMs)
      log.warn({ err: error }, 'the keys of the token issuer could not be fetched')
    }
  }

  const renew = () => fetching ??= fetchKeys().finally(() => { fetching = undefined })
  const renewUnlessJustDone = async () => { if (fetching || Date.now() >= notBefore) await renew() }
  const timer = setInterval(() => { void renew() }, renewEveryMs).unref()
  void renew()

  async function lookUp (header: JWTHeaderParameters): Promise<CryptoKey> {
    if (!areKnown) await renewUnlessJustDone()
    if (!areKnown) throw new Error('the keys of the token issuer are not known yet')
    try {
      return await keys(header)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await renewUnlessJustDone()
      return await keys(header)
    }
  }

  return {
    async find (header) {
      const key = await lookUp(header)
      const pem = pems.get(key) ?? KeyObject.from(key).export({ type: 'spki', format: 'pem' }).toString()
      pems.set(key, pem)
      return pem
    },
    close: () => clearInterval(timer)
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
