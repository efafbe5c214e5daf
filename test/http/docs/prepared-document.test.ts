// The API document is made once: who has it already is told so, and strangers do not ask for it without end.
import t from 'tap'
import { appAlone } from '../../support/http/openapi.js'
import { configOf, testService } from '../../support/service.js'

const app = await appAlone()

async function get (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const answer = await app.inject({ method, url, headers })
  return { status: answer.statusCode, headers: answer.headers, text: answer.body }
}

t.test('the document has an ETag, and is not sent to who names it', async (t) => {
  for (const [path, type] of [['/docs/json', 'application/json; charset=utf-8'], ['/docs/yaml', 'application/x-yaml']]) {
    const first = await get(String(path))
    t.equal(first.status, 200)
    t.equal(first.headers['content-type'], type)
    t.equal(first.headers['cache-control'], 'no-cache')
    const etag = String(first.headers.etag)
    t.match(etag, /^"[\w-]{27}"$/)
    t.equal((await get(String(path))).text, first.text)
    for (const named of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, headers, text } = await get(String(path), { 'if-none-match': named })
      t.strictSame([status, text, headers.etag], [304, '', etag], named)
    }
    t.equal((await get(String(path), { 'if-none-match': '"other"' })).status, 200)
    const head = await get(String(path), {}, 'HEAD')
    t.strictSame([head.status, head.headers.etag], [200, etag])
  }
})

t.test('without its webhooks it is the same document, for generators that do not know the section', async (t) => {
  const [whole, without] = [await get('/docs/json'), await get('/docs/json?webhooks=false')]
  const { webhooks, ...rest } = JSON.parse(whole.text)
  t.ok(webhooks['call.completed'])
  t.strictSame(JSON.parse(without.text), rest)
  t.not(without.headers.etag, whole.headers.etag)
  t.equal((await get('/docs/json?webhooks=true')).text, whole.text)
})

t.test('its servers are where callers find the API: PUBLIC_URL with BASE_PATH', async (t) => {
  const serversFor = async (settings: Record<string, string>) => {
    const { basePath, publicUrl } = configOf(settings)
    const app = await appAlone({ basePath, publicUrl })
    const { servers, paths } = (await app.inject(`${basePath}/docs/json`)).json()
    t.ok(paths['/user/lead'].post, 'paths are below it')
    return { api: servers, health: paths['/health/live'].get.servers }
  }
  const at = (url: string) => [{ url }]
  t.strictSame(await serversFor({}), { api: at('/'), health: undefined })
  t.strictSame(await serversFor({ PUBLIC_URL: 'https://api.example.com/' }), { api: at('https://api.example.com'), health: undefined })
  const placed = { api: at('https://example.com/voice/v1'), health: at('https://example.com/voice') }
  t.strictSame(await serversFor({ BASE_PATH: '/v1', PUBLIC_URL: 'https://example.com/voice' }), placed)
  t.strictSame(await serversFor({ BASE_PATH: '/v1', PUBLIC_URL: 'https://example.com/voice/v1' }), placed, 'once')
})

t.test('documents and refused tokens are 120 a minute for one address; users and probes are not held up', async (t) => {
  const { url, token } = await testService(t, ['api'])
  const paths = ['/docs', '/docs/json', '/docs/yaml', '/docs/static/swagger-ui.css', '/user/leads', '/engine/calls/c/completed']
  const ask = async (path: string, headers = {}) => {
    const answer = await fetch(`${url}${path}`, { method: path.startsWith('/engine') ? 'POST' : 'GET', headers })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  for (let n = 0; n < 120; n++) {
    const path = paths[n % paths.length] ?? ''
    t.equal((await ask(path)).status, path.startsWith('/docs') ? 200 : 401, path)
  }
  for (const path of [...paths, '/metrics']) {
    const { status, headers, text } = await ask(path, { authorization: 'Bearer garbage' })
    t.equal(status, 429, path)
    t.match(headers.get('retry-after'), /^[1-9]\d?$/)
    t.match(JSON.parse(text).message, /^Too many requests: try again in \d+ seconds\.$/)
  }
  t.equal((await ask('/user/webhook-deliveries', { authorization: `Bearer ${await token('1')}` })).status, 200)
  t.equal((await ask('/health/live')).status, 200)
  t.equal((await ask('/nowhere')).status, 404)
})
