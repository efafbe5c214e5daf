// Requests that no route takes: unknown addresses, other methods, paths that cannot be read, and what is not HTTP.
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { isRefusal } from '../support/running-service.js'
import { documentedOperations } from '../support/http/openapi.js'
import { sendRaw } from '../support/http/open-connections.js'
import { testService } from '../support/service.js'

const service = await testService(t)
const { call } = service

t.test('an address that does not exist is a 404, with any method, token or body', async (t) => {
  const nowhere = [
    '/user', '/user/', '/user/nowhere', '/user/assistant/1/2', '/user/assistants/', '/User/assistants',
    '//user/assistants', '/engine', '/v1/user/assistant', '/.env'
  ]
  const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' }
  for (const path of nowhere) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      isRefusal(t, await call(method, path, method === 'GET' ? undefined : '{'), 404, `${method} ${path}`)
    }
    isRefusal(t, await call('POST', path, 'x', { headers }), 404, `${path} without a token`)
  }
})

t.test('a method that an address does not take is a 405 that names those that it does', async (t) => {
  const operations = await documentedOperations(service)
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const methods = operations.filter((operation) => operation.path === path).map(({ method }) => method)
    const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
    const refused = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !allowed.includes(method))
    for (const method of refused) {
      const answer = await call(method, path, method === 'GET' ? undefined : '{', {
        headers: { authorization: 'Bearer x' }
      })
      isRefusal(t, answer, 405, `${method} ${path}`)
      t.equal(answer.headers.get('allow'), allowed.sort().join(', '))
    }
    const { status, body, headers } = await call('HEAD', path)
    const read = /^\/(engine|ops)\//.test(path) ? 403 : path.includes('{') ? 404 : 200
    t.strictSame([status, body], [methods.includes('GET') ? read : 405, {}], `HEAD ${path}`)
    t.equal(headers.get('content-length') === null, /s\/export$/.test(path), `the length of ${path} is told where it is known`)
  }
})

t.test('so it is at addresses that are none of the interface', async (t) => {
  const reads = ['/', '/health/live', '/health/ready', '/metrics', '/docs', '/docs/', '/docs/json', '/docs/static/index.css']
  const ofOperators = ['/ops/api/projections', '/ops/api/actions/1']
  for (const path of [...reads, ...ofOperators]) {
    for (const method of ['POST', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await call(method, path, undefined, { headers: { authorization: 'Bearer x' } })
      isRefusal(t, answer, 405, `${method} ${path}`)
      t.equal(answer.headers.get('allow'), 'GET, HEAD')
    }
  }
  t.equal((await call('GET', '/ops/api/parked/retry')).headers.get('allow'), 'POST')
})

t.test('what is no HTTP request is told so in JSON too', async (t) => {
  const host = 'Host: x\r\n'
  const token = 'Authorization: Bearer a\r\n'
  const sent: Array<[bytes: string, status: number]> = [
    ['GARBAGE\r\n\r\n', 400],
    [`GET /user/assistants HTTP/9.9\r\n${host}\r\n`, 400],
    [`FOO /user/assistants HTTP/1.1\r\n${host}\r\n`, 400],
    ['GET /user/assistants HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}${host}Connection: close\r\n\r\n`, 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}HOST: y\r\nConnection: close\r\n\r\n`, 400],
    [`GET /health/live HTTP/1.1\r\n${host}${token}${token.toLowerCase()}Connection: close\r\n\r\n`, 400],
    [`GET /health/live HTTP/1.0\r\n${host}${host}\r\n`, 400],
    [`GET /user/assistants HTTP/1.1\r\n${host}Expect: more\r\nConnection: close\r\n\r\n`, 401],
    [`CONNECT example.com:443 HTTP/1.1\r\n${host}\r\nhello`, 404],
    [`GET / HTTP/1.1\r\n${host}no colon\r\n\r\n`, 400],
    [`GET /\u0001 HTTP/1.1\r\n${host}\r\n`, 400],
    [`POST /user/lead HTTP/1.1\r\n${host}Content-Length: x\r\n\r\n`, 400],
    [`POST /user/lead HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    [`GET / HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    [`GET /user/assistant/${'1'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`, 431]
  ]
  for (const [bytes, expected] of sent) {
    const { status, contentType, text } = await sendRaw(service.url, bytes)
    t.equal(status, expected, bytes.slice(0, 60))
    t.equal(contentType, 'application/json; charset=utf-8')
    t.strictSame(Object.keys(JSON.parse(text)), ['message'])
  }
  for (let nth = 0; nth < 20; nth += 1) {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname, () => {
      socket.write(`CONNECT example.com:443 HTTP/1.1\r\n${host}\r\n`, () => socket.resetAndDestroy())
    })
    await once(socket, 'close')
  }
  t.equal((await call('GET', '/user/assistants')).status, 200, 'and others are served on')
})
