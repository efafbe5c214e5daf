// The API document is made once: who has it already is told so.
import t from 'tap'
import { appAlone } from '../../support/http/openapi.js'
import { configOf } from '../../support/service.js'

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
