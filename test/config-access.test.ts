// Settings that say who may come in: secrets, roles of an issuer, origins of pages.
import t from 'tap'
import { BadSettings, loadConfig } from '../src/config.js'
import { problems, refuses } from './support/config-problems.js'

const secret = 'x'.repeat(31) + 'y'

t.test('one character repeated is no secret; a former key may be one, so that it can be left', async (t) => {
  for (const name of ['JWT_SECRET', 'SECRET_KEY', 'LEAD_DIGEST_KEY', 'METRICS_TOKEN']) {
    for (const repeated of ['a'.repeat(32), ' '.repeat(64), 'é'.repeat(40), '\n'.repeat(32), '😀'.repeat(32)]) {
      t.match(problems({ [name]: repeated })[name], [/^must not be one character repeated/], name)
    }
    for (const fine of [secret, 'ab'.repeat(16), `${'a'.repeat(40)}b`, `b${'a'.repeat(40)}`]) {
      refuses(t, { [name]: fine })
    }
  }
  refuses(t, { SECRET_KEY_PREVIOUS: 'a'.repeat(32) })
})

t.test('white space beside the commas of former keys is no part of them', async (t) => {
  const keys = [secret, 'b '.repeat(20) + 'b', 'c'.repeat(32)]
  t.strictSame(loadConfig({ SECRET_KEY_PREVIOUS: ` ${keys.join(' , ')}\n` }).previousSecretKeys, keys)
  for (const SECRET_KEY_PREVIOUS of [` ${'d'.repeat(31)} `, `${secret},`, `${secret}, ,${secret}`]) {
    refuses(t, { SECRET_KEY_PREVIOUS }, 'SECRET_KEY_PREVIOUS')
  }
})

t.test('former secrets of tokens are as long as the present one, and none without it', async (t) => {
  const former = ['b'.repeat(16) + 'c'.repeat(16), 'd e'.repeat(20)]
  t.match(loadConfig({ JWT_SECRET: secret, JWT_SECRET_PREVIOUS: former.join(', ') }).jwt, { secret, previousSecrets: former })
  for (const JWT_SECRET_PREVIOUS of ['short', `${former[0]},short`, `${former[0]},`, `${former[0]}, ,${former[1]}`]) {
    refuses(t, { JWT_SECRET: secret, JWT_SECRET_PREVIOUS }, 'JWT_SECRET_PREVIOUS')
  }
  const { message } = new BadSettings(problems({ JWT_SECRET_PREVIOUS: 'hunter2' }), { JWT_SECRET_PREVIOUS: 'hunter2' })
  t.equal(message, 'JWT_SECRET_PREVIOUS must be former secrets of 32 characters or more, separated by commas')
  const issuer = { JWT_JWKS_URL: 'https://issuer.example.com/jwks.json', JWT_ISSUER: 'issuer', JWT_AUDIENCE: 'ringledger' }
  refuses(t, { ...issuer, JWT_SECRET_PREVIOUS: former[0] ?? '' }, 'JWT_SECRET_PREVIOUS')
})

t.test('roles of an issuer are pairs with roles of ours', async (t) => {
  const map = (JWT_ROLE_MAP: string) => [...loadConfig({ JWT_SECRET: secret, JWT_ROLE_MAP }).jwt?.roleMap ?? []]
  t.strictSame(map('authenticated=user, service_role=engine,admin=ops,'), [
    ['authenticated', 'user'], ['service_role', 'engine'], ['admin', 'ops']
  ])
  t.strictSame(map('=user,a=b=ops'), [['', 'user'], ['a=b', 'ops']])
  t.strictSame(map(''), [])
  for (const JWT_ROLE_MAP of ['admin', 'admin=', 'admin=root', 'admin=Ops', 'a=user,b=toString', '=']) {
    refuses(t, { JWT_ROLE_MAP }, 'JWT_ROLE_MAP')
  }
})

t.test('origins are those that a browser sends, or all of them', async (t) => {
  t.strictSame(loadConfig({}).corsOrigins, [])
  t.equal(loadConfig({ CORS_ORIGINS: '*' }).corsOrigins, '*')
  const origins = ['https://app.example.com', 'http://localhost:5173', 'https://[::1]:8443']
  t.strictSame(loadConfig({ CORS_ORIGINS: ` ${origins.join(' , ')},` }).corsOrigins, origins)
  const wrong = [
    'app.example.com', 'https://app.example.com/', 'https://App.example.com', 'https://app.example.com:443', 'null',
    'https://*.example.com', 'https://a.example.com,*', 'ftp://example.com', 'https://user@example.com', 'https://'
  ]
  for (const CORS_ORIGINS of wrong) refuses(t, { CORS_ORIGINS }, 'CORS_ORIGINS')
})
