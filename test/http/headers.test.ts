import t from 'tap'
import { placesOf, welcome } from '../../src/cli/serve.js'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t, ['api', 'projector'], { BASE_PATH: '/voice/v1/' })
const { call } = service

/** Read to its end: an answer that nobody reads keeps the service from closing. */
async function page (path: string): Promise<{ status: number, headers: Headers, text: string }> {
  const response = await fetch(`${service.url}${path}`, { redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

t.test('every answer of the API has headers that keep browsers out of trouble', async (t) => {
  const created = await call('POST', '/voice/v1/user/assistant', newAssistant)
  t.equal(created.status, 201)
  for (const { headers } of [created, await call(
    'PUT', '/voice/v1/user/assistant/none', {}
  ), await call('GET', '/nowhere')]) {
    t.match(Object.fromEntries(headers), {
      'content-type': 'application/json; charset=utf-8',
      'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': /max-age=\d{8}/,
      'cache-control': 'no-store'
    })
    for (const name of ['server', 'x-powered-by']) t.notOk(headers.has(name), `no ${name}`)
  }
})

t.test('BASE_PATH is before every route, and nothing is without it', async (t) => {
  for (const [method, path] of [
    ['POST', '/user/assistant'],
    ['PUT', '/user/assistant/1'],
    ['POST', '/user/lead'],
    ['GET', '/user/webhook-secret'],
    ['POST', '/engine/calls/c-1/completed'],
    ['GET', '/docs/json']
  ] as const) {
    const body = method === 'GET' ? undefined : {}
    t.not((await call(method, `/voice/v1${path}`, body)).body.message, 'There is nothing at this address.', path)
    t.same((await call(method, path, body)).status, 404, `${path} without it`)
  }
})

t.test('probes do not depend on BASE_PATH', async (t) => {
  t.equal((await call('GET', '/health/live')).status, 200)
  t.equal((await call('GET', '/health/ready')).status, 200)
})

t.test('the documentation works under BASE_PATH, with and without a slash, from this address alone', async (t) => {
  for (const address of ['/voice/v1/docs', '/voice/v1/docs/']) {
    const response = await page(address)
    t.equal(response.status, 200)
    const policy = response.headers.get('content-security-policy') ?? ''
    t.match(policy, /default-src 'none'; script-src 'self';/)
    t.notMatch(policy, /https?:|upgrade-insecure-requests/, 'nothing from elsewhere, and no detour over https')
    const html = response.text
    t.notMatch(html, /<script>|<style>|\son\w+=/, 'nothing that the policy would stop')
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)]
      .map(([, file = '']) => new URL(file, `${service.url}${address}`))
    t.ok(files.length >= 4)
    for (const file of files) {
      t.equal(file.origin, service.url)
      t.equal((await page(file.pathname)).status, 200, file.pathname)
    }
  }
})

t.test('the links that a start prints lead there', async (t) => {
  const text = await welcome(placesOf(service.url, service.config, {}), { ...service.config, jwtSecretIsOurs: true })
  const docs = /^ +docs +(\S+)$/m.exec(text)?.[1] ?? ''
  t.equal(docs, `${service.url}/voice/v1/docs`)
  t.equal((await page(new URL(docs).pathname)).status, 200)
  const paths = [...text.matchAll(/curl .* -X (\w+) (\S+)/g)]
    .map(([, method, address = '']) => `${method} ${address.slice(service.url.length)}`)
  t.strictSame(paths, ['POST /voice/v1/user/assistant', 'PUT /voice/v1/user/assistant/1', 'POST /voice/v1/user/lead'])
})
