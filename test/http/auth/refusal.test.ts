// A refused token: the caller is told why in a header, the operator in the log, and the body says nothing.
import fastify from 'fastify'
import pino from 'pino'
import t, { type Test } from 'tap'
import { only, registerAuth } from '../../../src/http/auth.js'
import type { JwtSettings } from '../../../src/http/credentials.js'
import { requestLogger } from '../../../src/http/logging.js'
import { registerRateLimits } from '../../../src/http/limits.js'
import { RequestLog, userHash } from '../../../src/http/request-log.js'
import { tokenIssuer, audience, claims, issuer, now, secret, signed, signedAsIs, without } from './tokens.js'

/** Asks with a token, and answers what came back and the line in the log. */
async function asking (t: Test, jwt: JwtSettings) {
  const lines: string[] = []
  const app = fastify({
    loggerInstance: requestLogger(pino({ level: 'info' }, { write: (line: string) => { lines.push(line) } })),
    logController: new RequestLog()
  })
  await registerAuth(app, jwt)
  await registerRateLimits(app, { perMinute: 0, strangersPerMinute: Infinity })
  app.get('/things/:id', { onRequest: only('user') }, async () => ({}))
  t.teardown(() => app.close())
  return async (authorization: string | undefined) => {
    lines.length = 0
    const headers = authorization === undefined ? {} : { authorization }
    const { statusCode, headers: answered, body } = await app.inject({ url: '/things/4711?q=secret', headers })
    const told = lines.filter((line) => line.includes('"msg":"request"'))
    t.equal(told.length, 1, 'one line')
    t.notMatch(told.join(), /4711|secret|user-1|Bearer|eyJ/)
    return { statusCode, challenge: answered['www-authenticate'], body, line: JSON.parse(told[0] ?? '{}') }
  }
}

const user = userHash('user-1')
const invalid = (description: string) => `Bearer error="invalid_token", error_description="${description}"`

t.test('with a shared secret each reason has its name', async (t) => {
  const ask = await asking(t, { roleClaim: 'role', secret, issuer, audience })
  const good = await signed(claims())
  const cases: Array<[token: string, refused: string, why: string, user?: string | undefined]> = [
    ['garbage', 'malformed', 'The token cannot be read'],
    ['a.b.c', 'malformed', 'The token cannot be read'],
    [`${good.slice(0, -6)}AAAAAA`, 'signature', 'The signature of the token does not verify', user],
    [good.slice(0, good.lastIndexOf('.') + 1), 'signature', 'The signature of the token does not verify', user],
    [await signed(claims(), 'HS512'), 'algorithm', 'The algorithm of the token is not accepted', user],
    [await signed(claims({ exp: now() - 60 })), 'expired', 'The token has expired', user],
    [await signed(claims({ nbf: now() + 60 })), 'not-yet-valid', 'The token is not valid yet', user],
    [await signed(claims({ iss: 'https://other.example.com' })), 'issuer', 'The issuer of the token is not accepted', user],
    [await signed(without('iss')), 'issuer', 'The issuer of the token is not accepted', user],
    [await signed(claims({ aud: 'other' })), 'audience', 'The audience of the token is not accepted', user],
    [await signed(without('aud')), 'audience', 'The audience of the token is not accepted', user],
    [await signed(without('exp')), 'claims', 'A claim about the time of the token is missing or wrong', user],
    [signedAsIs({ ...claims(), exp: 'soon' }), 'claims', 'A claim about the time of the token is missing or wrong', user],
    [await signed(without('sub')), 'subject', 'The subject of the token is missing or wrong'],
    [await signed(claims({ sub: 'a\nb' })), 'subject', 'The subject of the token is missing or wrong'],
    [signedAsIs({ ...claims(), sub: 1 }), 'subject', 'The subject of the token is missing or wrong']
  ]
  for (const [token, refused, why, named] of cases) {
    const { statusCode, challenge, line, body } = await ask(`Bearer ${token}`)
    t.equal(statusCode, 401, refused)
    t.equal(challenge, invalid(why))
    t.notMatch(body, why)
    t.match(line, { method: 'GET', route: '/things/:id', status: 401, refused, reqId: /./ })
    t.equal(line.user, named, refused)
    t.type(line.ms, 'number')
  }
})

t.test('no token is asked for, and nothing was wrong with one', async (t) => {
  const ask = await asking(t, { roleClaim: 'role', secret })
  for (const authorization of [undefined, '', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ']) {
    const { statusCode, challenge, line } = await ask(authorization)
    t.strictSame(
      [statusCode, challenge, line.refused, line.user], [401, 'Bearer', 'missing', undefined], String(authorization)
    )
  }
})

t.test('a valid token of another role is told in the log, one that is let in has its user there', async (t) => {
  const ask = await asking(t, { roleClaim: 'role', secret })
  const other = await ask(`Bearer ${await signed(claims({ role: 'ops' }))}`)
  t.match(other, { statusCode: 403, challenge: undefined, line: { status: 403, refused: 'role', role: 'ops', user } })
  const { line } = await ask(`Bearer ${await signed(claims())}`)
  t.match(line, { method: 'GET', route: '/things/:id', status: 200, role: 'user', user })
  t.notOk('refused' in line)
})

t.test('a key that the issuer does not have, or an issuer that is away, is a reason of its own', async (t) => {
  const keys = await tokenIssuer(t)
  await keys.rotate('rsa')
  const ask = await asking(t, { roleClaim: 'role', jwksUrl: keys.jwksUrl, issuer, audience })
  const unknown = `Bearer ${await keys.sign('rsa', claims(), { kid: 'unknown' })}`
  t.match(await ask(unknown), { statusCode: 401, line: { refused: 'key', user } })
  keys.state = 'down'
  t.match(await ask(unknown), { statusCode: 401, challenge: invalid('No key of the issuer fits the token') })
})

t.test('the hash of a user is what an operator can make of the id', async (t) => {
  t.equal(userHash('1'), '6b86b273ff34fce1', 'printf %s 1 | sha256sum | cut -c1-16')
})
