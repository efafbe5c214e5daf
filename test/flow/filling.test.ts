// While a read model is filled from a log that was there before it, what depends on it is a 503 and no half answer.
import t from 'tap'
import { callReport, newLead } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { caller } from '../support/running-service.js'
import { created, idOf, restorable, type Running } from '../support/restorable.js'
import { signToken, revokeNow } from '../../src/cli/token.js'
import { configOf } from '../support/service.js'
import { digestOf } from '../../src/http/credentials.js'

const r = await restorable(t)
const before = await r.start()
const assistant = idOf(await eventually(async () => created(await before.createAssistant('https://example.com/hook'))))
const lead: number = (await before.createLead()).body.data.id
await before.completeCall('known', assistant)
await eventually(async () => (await before.get('/user/call/known')).status === 200)
const { jwt } = configOf({})
const [user, ended, engine] = await Promise.all([
  signToken(jwt, { user: '1', ttl: '1h' }), signToken(jwt, { user: '1', ttl: '1h' }),
  signToken(jwt, { user: 'engine', role: 'engine', ttl: '1h' })
])
const makeKey = async () => (await eventually(async () => {
  const answer = await caller(before.url)('POST', '/user/api-key', { token: user, body: { name: 'x', scopes: ['read'] } })
  return answer.status === 201 && answer
})).body.data
const [kept, revoked] = [await makeKey(), await makeKey()]
t.equal((await caller(before.url)('DELETE', `/user/api-key/${revoked.id}`, { token: user })).status, 200)
const jti = JSON.parse(Buffer.from(ended.split('.')[1] ?? '', 'base64url').toString()).jti
await r.withParts((parts) => revokeNow(parts, digestOf(jti)))
await before.stop()

const paths = [
  '/user/assistants', `/user/assistant/${assistant}`, `/user/assistant/${assistant}/history`, '/user/leads',
  `/user/lead/${lead}`, '/user/calls', '/user/call/known', '/user/campaigns', '/user/phone-numbers', '/user/blacklist',
  ...['voices', 'languages', 'models'].map((list) => `/user/assistants/${list}`)
]
/** Every command whose answer depends on what a read model holds. */
const commands = ({ url }: Running) => {
  const call = caller(url)
  return [
    () => call('POST', '/user/lead', { token: user, body: newLead() }),
    () => call('PUT', `/user/assistant/${assistant}`, { token: user, body: { voice_id: 1 } }),
    () => call('POST', `/user/assistant/${assistant}/webhook-test`, { token: user }),
    () => call('POST', '/engine/calls/another/completed', {
      token: engine, body: callReport(assistant, { lead_id: lead })
    })
  ]
}

t.test('beside a new database nothing is answered from read models that are not filled, and all is there when they are', async (t) => {
  await r.lose()
  const api = await r.start(['api'])
  t.match(await api.ready(), { status: 503, body: { checks: { readModels: 'failing' } } })
  for (const path of paths) {
    const { status, headers, body } = await api.get(path)
    t.match({ status, body }, { status: 503, body: { message: /try again in a moment/ } }, path)
    t.match(headers.get('retry-after'), /^[1-9]/)
  }
  for (const send of commands(api)) t.equal((await send()).status, 503, String(send))
  const me = async (token: string) => (await caller(api.url)('GET', '/user/me', { token })).status
  t.strictSame([await me(kept.key), await me(revoked.key)], [503, 503])
  t.strictSame([await me(user), await me(ended)], [200, 401], 'a token is looked up in the log meanwhile')

  const projector = await r.start(['projector'])
  await eventually(async () => (await api.ready()).body.checks?.readModels === 'ok')
  for (const path of paths) t.equal((await api.get(path)).status, 200, path)
  t.strictSame([await me(kept.key), await me(revoked.key), await me(user), await me(ended)], [200, 401, 200, 401])
  t.equal((await eventually(async () => (await projector.ready()).body)).checks.readModels, 'ok')
})
