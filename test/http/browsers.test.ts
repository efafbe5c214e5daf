// What browsers get: headers that guard them, the console, and the documentation, below a BASE_PATH and without one.
// Which pages of other origins may call the API from one, and what they may read.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { packageRoot, packageVersion } from '../../src/package-root.js'
import { secrets } from '../support/auth/secrets.js'
import { appAlone } from '../support/http/openapi.js'
import { token as tokenOf } from '../support/running-service.js'
import { configOf } from '../support/service.js'
import { tokensAlone } from './auth/tokens.js'

const ours = 'https://app.example.com'
const token = await tokenOf(secrets.JWT_SECRET, '1')

/** The app with these settings, without back ends. @returns its URL */
async function listening (environment: Record<string, string>): Promise<string> {
  const { basePath, corsOrigins } = configOf(environment)
  const routes = { positions: { passed: async () => 1n }, config: { rateLimitPerMinute: 0 } }
  const app = await appAlone({ basePath, corsOrigins, credentials: tokensAlone, routes })
  t.teardown(() => app.close())
  return await app.listen({ host: '127.0.0.1', port: 0 })
}

const url = await listening({ BASE_PATH: '/voice/v1/', CORS_ORIGINS: `${ours},http://localhost:5173` })
const root = await listening({})

/** Read to its end: an answer that nobody reads keeps the service from closing. */
async function page (path: string): Promise<{ status: number, headers: Headers, text: string }> {
  const response = await fetch(`${url}${path}`, { redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

t.test('every answer of the API has headers that keep browsers out of trouble', async (t) => {
  for (const [path, status] of [['/voice/v1/user/me', 200], ['/voice/v1/user/lead/none', 404], ['/nowhere', 404]] as const) {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
    await answer.text()
    t.equal(answer.status, status)
    t.match(Object.fromEntries(answer.headers), {
      'content-type': 'application/json; charset=utf-8',
      'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': /max-age=\d{8}/,
      'cache-control': 'no-store'
    })
    for (const name of ['server', 'x-powered-by']) t.notOk(answer.headers.has(name), `no ${name}`)
  }
})

t.test('every route is below BASE_PATH, and probes are not', async (t) => {
  for (const [path, status] of [['/user/assistant/1', 401], ['/engine/blacklist/1', 401], ['/docs/json', 200]] as const) {
    t.equal((await page(`/voice/v1${path}`)).status, status, path)
    t.equal((await page(path)).status, 404, `${path} without it`)
  }
  t.equal((await page('/health/live')).status, 200)
})

/** Its policy lets no script run that stands in the page, or comes from elsewhere. @returns what the page loads */
function filesOf (t: Test, { headers, text }: { headers: Headers, text: string }): string[] {
  const policy = headers.get('content-security-policy') ?? ''
  t.match(policy, /default-src 'none'; script-src 'self';/)
  t.notMatch(policy, /https?:|upgrade-insecure-requests/, 'nothing from elsewhere, and no detour over https')
  t.notMatch(text, /<script>|<style>|\son\w+=/, 'nothing that the policy would stop')
  return [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
}

t.test('the documentation works under BASE_PATH, with and without a slash, from this address alone', async (t) => {
  for (const address of ['/voice/v1/docs', '/voice/v1/docs/']) {
    const files = filesOf(t, await page(address)).map((file) => new URL(file, `${url}${address}`))
    t.ok(files.length >= 4)
    for (const file of files) {
      t.equal(file.origin, url)
      t.equal((await page(file.pathname)).status, 200, file.pathname)
    }
  }
})

const asBrowser = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }

t.test('browsers get a page whose scripts are files of ours, kept for good, and compressed', async (t) => {
  const answer = await fetch(root, { headers: asBrowser })
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', vary: /Accept/
  })
  const files = filesOf(t, { headers: answer.headers, text: await answer.text() }).filter((file) => file.startsWith('/console/'))
  t.equal(files.length, 2)
  for (const file of files) {
    t.match(file, /-[A-Z0-9]{8}\.(js|css)$/)
    const { status, headers } = await fetch(root + file)
    t.match({ status, ...Object.fromEntries(headers) }, {
      status: 200, 'cache-control': 'public, max-age=31536000, immutable', 'content-encoding': 'gzip'
    }, file)
  }
  for (const path of ['/console/none.js', '/console/%2e%2e/metafile.json', '/console/..%2fmetafile.json']) {
    t.equal((await fetch(root + path)).status, 404, path)
  }
})

t.test('a program learns at / and at BASE_PATH where everything is, and a browser gets the console', async (t) => {
  for (const path of ['/', '/voice/v1', '/voice/v1/']) {
    t.same(await (await fetch(url + path)).json(), {
      name: 'Ringledger', version: packageVersion, docs: '/voice/v1/docs', console: '/voice/v1/', health: '/health/ready'
    }, path)
    const page = await (await fetch(url + path, { headers: asBrowser })).text()
    const script = /src="(\/voice\/v1\/console\/[^"]+)"/.exec(page)?.[1] ?? ''
    t.equal((await fetch(url + script)).status, 200, `the script of ${path}`)
  }
})

t.test('the first page is less than 250 KB, compressed', (t) => {
  interface Output { entryPoint?: string, cssBundle?: string, imports: Array<{ path: string, kind: string }> }
  const { outputs }: { outputs: Record<string, Output> } =
    JSON.parse(readFileSync(join(packageRoot, 'dist/console/metafile.json'), 'utf8'))
  const isFirst = ({ entryPoint = '' }: Output) => /\/src\/(main|pages\/overview)\.tsx$/.test(entryPoint)
  const loaded = new Set(Object.entries(outputs).filter(([, output]) => isFirst(output)).map(([path]) => path))
  t.equal(loaded.size, 2)
  for (const path of loaded) { // it grows meanwhile
    const { cssBundle, imports } = outputs[path] ?? { imports: [] }
    if (cssBundle) loaded.add(cssBundle)
    for (const each of imports) if (each.kind === 'import-statement') loaded.add(each.path)
  }
  const bytes = [...loaded].reduce((sum, path) => sum + readFileSync(join(packageRoot, `${path}.gz`)).length, 0)
  t.ok(bytes < 250_000, `${bytes} bytes`)
  t.end()
})

/** With `asks`, the question of a browser before it sends a request with that method. */
async function from (origin: string | undefined, path: string, method = 'GET', asks?: string, at = `${url}/voice/v1`) {
  const answer = await fetch(`${at}${path}`, {
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
  for (const [path, status] of [['/user/me', 200], ['/nowhere', 404], ['/user/lead/%E0%A4%A', 400]] as const) {
    const answer = await from(ours, path)
    t.equal(answer.status, status)
    t.match(answer.headers, { 'access-control-allow-origin': ours, vary: 'Origin' }, path)
    const exposed = /ETag, .*X-Read-Position, .*Retry-After, .*Allow, Content-Disposition/
    t.match(answer.headers['access-control-expose-headers'], exposed)
    t.notOk(answer.headers['access-control-allow-credentials'])
  }
  t.equal((await from(ours, '/')).headers.vary, 'Origin, Accept', 'together with what else it depends on')
  const refused = await fetch(`${url}/voice/v1/user/me`, { headers: { origin: ours } })
  t.strictSame([refused.status, refused.headers.get('access-control-allow-origin')], [401, ours])
  await refused.text()
})

t.test('a browser that asks first learns what it may send, without a token', async (t) => {
  for (const [path, method, taken] of [
    ['/user/lead', 'POST', 'POST'], ['/user/assistant/1', 'PUT', 'DELETE, GET, HEAD, PUT']
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

t.test('other origins learn nothing, and no cache keeps an answer to them for ours', async (t) => {
  const others = ['https://evil.example.com', 'https://app.example.com.evil.com', 'null', 'http://app.example.com', undefined]
  for (const origin of others) {
    for (const [method, asks, status] of [['GET', undefined, 200], ['OPTIONS', 'GET', 405]] as const) {
      const answer = await from(origin, '/user/me', method, asks)
      t.equal(answer.status, status)
      t.strictSame(allowed(answer.headers), [], `${origin} ${method}`)
      t.equal(answer.headers.vary, 'Origin')
    }
  }
})

t.test('with * every origin may, and without the setting none', async (t) => {
  const all = await listening({ CORS_ORIGINS: '*' })
  const anybody = 'https://anybody.example.com'
  const answer = await from(anybody, '/user/me', 'GET', undefined, all)
  t.match(answer.headers, { 'access-control-allow-origin': '*' })
  t.equal((await from(anybody, '/user/lead', 'OPTIONS', 'POST', all)).status, 204)
  for (const [method, asks] of [['GET', undefined], ['OPTIONS', 'GET']] as const) {
    const { headers } = await from(ours, '/user/me', method, asks, root)
    t.strictSame(allowed(headers), [])
    t.equal(headers.vary, undefined)
  }
})
