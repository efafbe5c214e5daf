// How many requests a user, and a stranger, may make in a minute; and that processes share their counts through Redis.
import { createServer } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { secrets } from '../../support/auth/secrets.js'
import { noRedis, scratchRedis } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { appAlone } from '../../support/http/openapi.js'
import { token as tokenOf, type Answer } from '../../support/running-service.js'
import { testService } from '../../support/service.js'
import { tokensAlone } from '../auth/tokens.js'

/** For processes that share their counts, or meet a Redis that hangs. */
const service = await testService(t, [], { RATE_LIMIT_PER_MINUTE: '3' })

const key = `rl_${'k'.repeat(43)}`
const ofKey = { id: 7, user_id: 'neighbour', name: 'k', scopes: ['read' as const] }
const app = await appAlone({
  rateLimit: { perMinute: 3 },
  credentials: { ...tokensAlone, findKey: async (sent) => sent === key ? ofKey : 'key-unknown' },
  routes: { config: { rateLimitPerMinute: 3 } }
})
t.teardown(() => app.close())
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const path = '/user/me'
const tokenFor = (user: string, role?: string) => tokenOf(secrets.JWT_SECRET, user, role)

async function get (url: string, token: string, route = path, method = 'GET'): Promise<Answer> {
  const broken = method === 'POST' && { body: '{' }
  const headers = { authorization: `Bearer ${token}`, ...broken && { 'content-type': 'application/json' } }
  const response = await fetch(`${url}${route}`, { method, headers, ...broken })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
const statuses = async (times: number, ask: () => Promise<Answer>) => {
  const answers: number[] = []
  for (let n = 0; n < times; n++) answers.push((await ask()).status)
  return answers
}

t.test('a user may make so many requests a minute, and learns how many are left', async (t) => {
  const token = await tokenFor('eager')
  for (const left of ['2', '1', '0']) {
    const { status, headers } = await get(url, token)
    t.equal(status, 200)
    t.equal(headers.get('x-ratelimit-limit'), '3')
    t.equal(headers.get('x-ratelimit-remaining'), left)
    t.ok(Number(headers.get('x-ratelimit-reset')) <= 60)
  }
  const { status, headers, body } = await get(url, token)
  t.equal(status, 429)
  t.match(headers.get('retry-after'), /^[1-9]\d?$/)
  t.same(body, { message: `Too many requests: try again in ${headers.get('retry-after')} seconds.` })
  const other = await get(url, await tokenFor('other'))
  t.equal(other.status, 200, 'another user is not held up')
  t.same(other.body.data, { id: 'other', scopes: ['read', 'write'], api_key: null, rate_limit_per_minute: 3 })
})

t.test('the count is of the user, whichever route; the call engine and operators are not limited', async (t) => {
  const token = await tokenFor('various')
  const asked = async (route: string, method: string) => (await get(url, token, route, method)).status
  t.equal(await asked('/user/lead', 'POST'), 400)
  t.equal(await asked('/user/leads?page=x', 'GET'), 422)
  t.equal(await asked(path, 'GET'), 200)
  t.equal(await asked('/user/lead', 'POST'), 429)
  const [engine, operator] = [await tokenFor('engine', 'engine'), await tokenFor('operator', 'ops')]
  t.same(await statuses(4, () => get(url, operator)), Array(4).fill(403))
  t.same(await statuses(4, () => get(url, engine, '/engine/calls/c-1/completed', 'POST')), Array(4).fill(400))
})

t.test('documents and refused tokens are 120 a minute for one address; users and probes are not held up', async (t) => {
  const ask = async (path: string, headers = {}) => {
    const answer = await fetch(`${url}${path}`, { headers })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  for (let n = 0; n < 120; n++) {
    const isDocument = n % 40 === 0
    const authorization = n % 2 ? `Bearer rl_${'B'.repeat(43)}` : '' // nobody's key counts as no token does
    t.equal((await ask(isDocument ? '/docs' : path, { authorization })).status, isDocument ? 200 : 401)
  }
  for (const path of ['/docs', '/docs/json', '/docs/static/swagger-ui.css', '/user/leads', '/metrics']) {
    const { status, headers, text } = await ask(path, { authorization: 'Bearer garbage' })
    t.equal(status, 429, path)
    t.equal(headers.get('x-ratelimit-limit'), '120')
    t.match(headers.get('retry-after'), /^[1-9]\d?$/)
    t.match(JSON.parse(text).message, /^Too many requests: try again in \d+ seconds\.$/)
  }
  for (const known of [await tokenFor('neighbour'), key]) {
    t.equal((await ask(path, { authorization: `Bearer ${known}` })).status, 200)
  }
  t.equal((await ask('/health/ready', { authorization: 'Bearer garbage' })).status, 200, 'probes are never limited')
})

t.test('processes share their counts through Redis, and answer as ever without it', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  const [one, two] = await Promise.all([0, 1].map(() => service.start(['api'], { REDIS_URL: redis.url })))
  if (!one || !two) throw new Error('two processes were started')
  const token = await tokenFor('shared')
  await eventually(async () => (await get(two.url, await tokenFor(`probe ${Date.now()}`))).headers.get('x-ratelimit-remaining') === '2')
  t.same(
    [await statuses(2, () => get(one.url, token)), await statuses(2, () => get(two.url, token))],
    [[200, 200], [200, 429]]
  )
  for (const key of await redis.keys('*rate*')) t.match(key, /^ringledger:rate:[0-9a-f]{16}$/, 'by a hash of the user alone')
  await redis.kill()
  t.same(await statuses(5, () => get(one.url, token)), Array(5).fill(200), 'nobody is counted, nobody is refused')
  await redis.start()
  await eventually(async () => (await get(one.url, token)).status === 429)
})

t.test('a Redis that accepts connections and never answers slows nobody down for long', async (t) => {
  const hole = createServer((socket) => { socket.on('error', () => {}) }).listen(0, '127.0.0.1')
  await once(hole, 'listening')
  t.teardown(() => hole.close())
  const address = hole.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  const { url, stop } = await service.start(['api'], { REDIS_URL: `redis://127.0.0.1:${address.port}` })
  const token = await tokenFor('patient')
  t.same(await statuses(5, () => get(url, token)), Array(5).fill(200))
  await stop()
})
