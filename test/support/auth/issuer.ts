// A token issuer of a test's own: signs tokens, and publishes its keys on loopback.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import {
  SignJWT, exportJWK, exportSPKI, generateKeyPair, type GenerateKeyPairResult, type JWK, type JWTPayload
} from 'jose'
import type { Teardown } from '../teardown.js'

export interface Issuer {
  jwksUrl: string
  /** The number of requests for the keys. */
  fetches (): number
  /** Publishes a new key, in place of all others when `alone`. */
  rotate (kid: string, alg?: 'RS256' | 'ES256', alone?: boolean): Promise<void>
  /** Publishes a new RSA key in another form; `formOf` gets the usual form and the private one. */
  publish (kid: string, formOf: (proper: JWK, privateForm: JWK) => object): Promise<void>
  /** Answers instead of the issuer, while it is set. */
  answer: ((response: ServerResponse) => void) | undefined
  /** Withdraws the key. */
  withdraw (kid: string): void
  /** `down`: every connection is cut; `broken`: the answers hold no keys. */
  state: 'up' | 'down' | 'broken'
  sign (kid: string, claims: JWTPayload, header?: object): Promise<string>
  publicPem (kid: string): Promise<string>
}

export async function tokenIssuer (t: Teardown): Promise<Issuer> {
  const keys = new IssuerKeys()
  let fetches = 0
  const server = createServer((request, response) => {
    fetches++
    if (issuer.state === 'down') request.socket.destroy()
    else if (issuer.state === 'broken') sendJson(response, '{"keys": 5}')
    else if (issuer.answer) issuer.answer(response)
    else void keys.published().then((published) => sendJson(response, JSON.stringify({ keys: published })))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  const issuer: Issuer = {
    jwksUrl: `http://127.0.0.1:${address.port}/jwks.json`,
    fetches: () => fetches,
    rotate: (kid, alg = 'RS256', alone = false) => keys.rotate(kid, alg, alone),
    publish: (kid, formOf) => keys.publish(kid, formOf),
    answer: undefined,
    withdraw: (kid) => keys.withdraw(kid),
    state: 'up',
    sign: (kid, claims, header = {}) => keys.sign(kid, claims, header),
    publicPem: async (kid) => await exportSPKI(keys.pairOf(kid).publicKey)
  }
  return issuer
}

type Pair = GenerateKeyPairResult & { alg: string, form?: object }

class IssuerKeys {
  readonly #pairs = new Map<string, Pair>()

  async published (): Promise<object[]> {
    return await Promise.all([...this.#pairs].map(async ([kid, { publicKey, alg, form }]) =>
      form ?? { ...await exportJWK(publicKey), kid, alg, use: 'sig' }))
  }

  async rotate (kid: string, alg: string, alone: boolean): Promise<void> {
    const pair = await generateKeyPair(alg, { extractable: true })
    if (alone) this.#pairs.clear()
    this.#pairs.set(kid, { ...pair, alg })
  }

  async publish (kid: string, formOf: (proper: JWK, privateForm: JWK) => object): Promise<void> {
    const pair = await generateKeyPair('RS256', { extractable: true })
    const proper = { ...await exportJWK(pair.publicKey), kid, alg: 'RS256', use: 'sig' }
    const form = formOf(proper, { ...proper, ...await exportJWK(pair.privateKey) })
    this.#pairs.set(kid, { ...pair, alg: 'RS256', form })
  }

  withdraw (kid: string): void {
    this.#pairs.delete(kid)
  }

  async sign (kid: string, claims: JWTPayload, header: object): Promise<string> {
    const { alg, privateKey } = this.pairOf(kid)
    return await new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey)
  }

  /** The pair of that name, or any other, so that a token can name a key that is not published. */
  pairOf (kid: string): Pair {
    const pair = this.#pairs.get(kid) ?? [...this.#pairs.values()][0]
    if (!pair) throw new Error(`the issuer has no key, and none named ${kid}`)
    return pair
  }
}

function sendJson (response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}
