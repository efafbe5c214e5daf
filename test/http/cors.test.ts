// Which pages of other origins may call the API from a browser, and what they may read.
import t from 'tap'
import { testService } from '../support/service.js'

const ours = 'https://app.example.com'
const service = await testService(t, ['api'], { CORS_ORIGINS: `${ours},http://localhost:5173` })
const token = await service.token('1')

/** With `asks`, the question of a browser before it sends a request with that method. */
async function from (origin: string | undefined, path: string, method = 'GET', asks?: string, url = service.url) {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(origin !== undefined && { origin }),
      ...(asks !== undefined
        ? { 'access-control-request-method': asks, 'access-control-request-headers': 'authorization,content-type' }
        : { authorization: `Bearer ${token}` })
    }
  })
  await answer.text()
  return { status: answer.status, headers: Object.fromEntries(answer.headers) }
}

const allowed = (headers: object) => Object.keys(headers).filter((name) => name.startsWith('access-control-'))

t.test('a page of an origin that is named reads answers, refusals and the headers of both', async (t) => {
  for (const [path, status] of [['/user/leads', 200], ['/user/lead/none', 404], ['/nowhere', 404], ['/user/lead/%E0%A4%A', 400]] as const) {
    for (const origin of [ours, 'http://localhost:5173']) {
      const answer = await from(origin, path)
      t.equal(answer.status, status)
      t.match(answer.headers, { 'access-control-allow-origin': origin, vary: 'Origin' }, path)
      const exposed = /ETag, .*X-Read-Position, .*Retry-After, .*Allow, Content-Disposition/
      t.match(answer.headers['access-control-expose-headers'], exposed)
      t.notOk(answer.headers['access-control-allow-credentials'])
    }
  }
  t.equal((await from(ours, '/')).headers.vary, 'Origin, Accept', 'together with what else it depends on')
  const refused = await fetch(`${service.url}/user/leads`, { headers: { origin: ours } })
  t.strictSame([refused.status, refused.headers.get('access-control-allow-origin')], [401, ours])
  await refused.text()
})

t.test('a browser that asks first is told what it may send, without a token', async (t) => {
  for (const [path, method, taken] of [
    ['/user/lead', 'POST', 'POST'], ['/user/assistant/1', 'PUT', 'DELETE, GET, HEAD, PUT'], ['/user/leads', 'GET', 'GET, HEAD']
  ] as const) {
    const { status, headers } = await from(ours, path, 'OPTIONS', method)
    t.equal(status, 204)
    t.match(headers, {
      'access-control-allow-origin': ours,
      'access-control-allow-methods': taken,
      'access-control-allow-headers': /^Authorization, Content-Type, .*Idempotency-Key, If-Match, X-Read-Position/,
      'access-control-max-age': '600'
    })
  }
  t.equal((await from(ours, '/nowhere', 'OPTIONS', 'POST')).status, 404)
  t.equal((await from(ours, '/user/lead', 'OPTIONS')).status, 405, 'what asks nothing')
})

t.test('other origins are told nothing, and answers to them are not kept for ours', async (t) => {
  const others = ['https://evil.example.com', 'https://app.example.com.evil.com', 'null', 'http://app.example.com', undefined]
  for (const origin of others) {
    for (const [method, asks, status] of [['GET', undefined, 200], ['OPTIONS', 'GET', 405]] as const) {
      const answer = await from(origin, '/user/leads', method, asks)
      t.equal(answer.status, status)
      t.strictSame(allowed(answer.headers), [], `${origin} ${method}`)
      t.equal(answer.headers.vary, 'Origin')
    }
  }
})

t.test('with * every origin may, and without the setting none', async (t) => {
  const [all, none] = await Promise.all(['*', ''].map((CORS_ORIGINS) => service.start(['api'], { CORS_ORIGINS })))
  const anybody = 'https://anybody.example.com'
  const answer = await from(anybody, '/user/leads', 'GET', undefined, all?.url)
  t.match(answer.headers, { 'access-control-allow-origin': '*' })
  t.equal((await from(anybody, '/user/lead', 'OPTIONS', 'POST', all?.url)).status, 204)
  for (const [method, asks] of [['GET', undefined], ['OPTIONS', 'GET']] as const) {
    const { headers } = await from(ours, '/user/leads', method, asks, none?.url)
    t.strictSame(allowed(headers), [])
    t.equal(headers.vary, undefined)
  }
})
