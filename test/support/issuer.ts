// A token issuer of a test's own: signs tokens, and publishes its keys on loopback.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { SignJWT, exportJWK, exportSPKI, generateKeyPair, type GenerateKeyPairResult, type JWK, type JWTPayload } from 'jose'
import type { Teardown } from './teardown.js'

export interface Issuer {
  jwksUrl: string
  /** How often the keys were asked for. */
  fetches (): number
  /** Publishes a new key, in place of all others when `alone`. */
  rotate (kid: string, alg?: 'RS256' | 'ES256', alone?: boolean): Promise<void>
  /** Publishes a new RSA key in whatever form: `formOf` gets it as the issuer would publish it, and its private form. */
  publish (kid: string, formOf: (proper: JWK, privateForm: JWK) => object): Promise<void>
  /** Answers instead of the issuer, while it is set. */
  answer: ((response: ServerResponse) => void) | undefined
  /** Withdraws the key. */
  withdraw (kid: string): void
  /** `down`: every request is cut; `broken`: answers that are no keys. */
  state: 'up' | 'down' | 'broken'
  sign (kid: string, claims: JWTPayload, header?: object): Promise<string>
  publicPem (kid: string): Promise<string>
}

export async function tokenIssuer (t: Teardown): Promise<Issuer> {
  const pairs = new Map<string, GenerateKeyPairResult & { alg: string, form?: object }>()
  let fetches = 0
  const server = createServer((request, response) => {
    fetches++
    if (issuer.state === 'down') request.socket.destroy()
    else if (issuer.state === 'broken') response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys": 5}')
    else if (issuer.answer) issuer.answer(response)
    else void answer(response)
  }).listen(0, '127.0.0.1')
  const answer = async (response: ServerResponse) => {
    const keys = await Promise.all([...pairs].map(async ([kid, { publicKey, alg, form }]) => form ?? { ...await exportJWK(publicKey), kid, alg, use: 'sig' }))
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }))
  }
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  const pairOf = (kid: string) => pairs.get(kid) ?? [...pairs.values()][0] ?? missing(kid)
  const issuer: Issuer = {
    jwksUrl: `http://127.0.0.1:${address.port}/jwks.json`,
    fetches: () => fetches,
    async rotate (kid, alg = 'RS256', alone = false) {
      const pair = await generateKeyPair(alg, { extractable: true })
      if (alone) pairs.clear()
      pairs.set(kid, { ...pair, alg })
    },
    async publish (kid, formOf) {
      const pair = await generateKeyPair('RS256', { extractable: true })
      const proper = { ...await exportJWK(pair.publicKey), kid, alg: 'RS256', use: 'sig' }
      pairs.set(kid, { ...pair, alg: 'RS256', form: formOf(proper, { ...proper, ...await exportJWK(pair.privateKey) }) })
    },
    answer: undefined,
    withdraw: (kid) => { pairs.delete(kid) },
    state: 'up',
    sign: async (kid, claims, header = {}) => await new SignJWT(claims).setProtectedHeader({ alg: pairOf(kid).alg, kid, ...header }).sign(pairOf(kid).privateKey),
    publicPem: async (kid) => await exportSPKI(pairOf(kid).publicKey)
  }
  return issuer
}

function missing (kid: string): never {
  throw new Error(`the issuer has no key, and none named ${kid}`)
}
