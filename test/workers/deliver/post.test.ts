// One request to a receiver: its deadline, the answer that is kept, and the names of failures.
import t from 'tap'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Result } from '../../../src/features/webhooks/outcome.js'
import { type Poster, openPoster } from '../../../workers/deliver/post.js'
import { type Resolve, resolveName } from '../../../workers/deliver/guard.js'
import { dnsStub, rawServer } from './servers.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import type { Teardown } from '../../support/teardown.js'

const loopback = { allowCidrs: ['127.0.0.0/8'] }
const never = new AbortController().signal

function poster (t: Teardown, guard: { allowCidrs: string[] } = loopback, resolve?: Resolve): Poster {
  const opened = openPoster(guard, resolve)
  t.teardown(() => opened.close())
  return opened
}

const message = { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":"é"}'), signal: never }
const send = (by: Poster, url: string, timeoutMs = 5_000): Promise<Result> => by.post({ ...message, url, timeoutMs })

t.test('the body arrives byte for byte, and the answer is returned', async (t) => {
  const hook = await receiver(t, answers(503, { 'retry-after': '7' }, 'busy\0'))
  const expected = { kind: 'answer', status: 503, retryAfter: '7', excerpt: 'busy\uFFFD', truncated: false }
  t.same(await send(poster(t), hook.url), expected)
  t.equal(hook.received[0]?.body.toString(), '{"a":"é"}')
  t.equal(hook.received[0]?.headers['content-length'], '10')
})

t.test('64 KiB of the answer are read and 16 KiB kept', async (t) => {
  const wrote = { bytes: 0 }
  const hook = await receiver(t, (response) => {
    response.writeHead(200)
    const piece = Buffer.alloc(65_536, 'x')
    const more = () => { while (!response.destroyed && response.write(piece)) wrote.bytes += piece.length }
    response.on('drain', more)
    more()
  })
  const result = await send(poster(t), hook.url)
  t.match(result, { kind: 'answer', status: 200, truncated: true })
  t.equal(result.kind === 'answer' && result.excerpt.length, 16 * 1024)
  t.ok(wrote.bytes < 64 * 1024 * 1024, 'nothing is read but what the buffers of both sides hold')
})

t.test('the status line counts, whatever is wrong with what comes after it', async (t) => {
  const heads = ['content-length: 2\r\ntransfer-encoding: chunked', 'content-length: +2', 'no colon', 'x: a\u0001b']
  const by = poster(t)
  for (const head of heads) {
    const hook = await rawServer(t, (socket) => socket.on('data', () =>
      socket.write(`HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n${head}\r\n\r\nok\0`)))
    for (const nth of [1, 2]) {
      const expected = { kind: 'answer', status: 503, retryAfter: '7', excerpt: 'ok\uFFFD', truncated: true }
      t.same(await send(by, hook.url), expected, `${head}, ${nth}`)
    }
    t.equal(hook.connections(), 2, 'nothing more is read from such a connection')
  }
})

t.test('a packed answer is shown unpacked, as far as it is kept', async (t) => {
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024, 'x'))
  for (const [encoding, body, wanted] of [
    ['X-Gzip', gzipSync('é: no'), { excerpt: 'é: no', truncated: false }],
    ['br', brotliCompressSync('é: no'), { excerpt: 'é: no', truncated: false }],
    ['gzip', bomb, { excerpt: 'x'.repeat(16 * 1024), truncated: true }],
    ['gzip', 'plain', { excerpt: 'plain' }]
  ] as const) {
    const hook = await receiver(t, (response) => { response.writeHead(500, { 'content-encoding': encoding }).end(body) })
    t.match(await send(poster(t), hook.url), { kind: 'answer', status: 500, ...wanted }, encoding)
  }
})

t.test('one deadline cuts headers that do not end and counts as a time-out', async (t) => {
  const drip = await rawServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x-drip: 1\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  })
  t.match(await send(poster(t), drip.url, 200), { kind: 'failure', stage: 'timeout' })
})

t.test('the deadline begins with the name and goes on through TLS and a body that is not taken', async (t) => {
  const mute = await dnsStub(t, () => undefined)
  const deaf = await rawServer(t, (socket) => socket.pause())
  const by = poster(t, loopback, (name) => resolveName(name, [mute.server]))
  const whole = Buffer.alloc(64 * 1024 * 1024)
  for (const [url, body] of [
    ['http://mute.example:8080/', '{}'], [deaf.url.replace('http:', 'https:'), '{}'], [deaf.url, whole]
  ] as const) {
    const stop = new AbortController()
    const post = { url, headers: {}, body: Buffer.from(body), timeoutMs: 200, signal: never }
    const patient = by.post({ ...post, timeoutMs: 60_000, signal: stop.signal }).catch(() => 'stopped')
    const result = await Promise.race([by.post(post), patient])
    t.same(result, { kind: 'failure', stage: 'timeout', message: 'no answer within 200 ms' }, 'before connecting is over')
    stop.abort()
    await patient
  }
})

t.test('a request that timed out while it connected is not sent when the connection stands', async (t) => {
  const hook = await receiver(t)
  let resolved = (_addresses: string[]) => {}
  const late = new Promise<string[]>((resolve) => { resolved = resolve })
  const by = poster(t, loopback, () => late)
  const url = `http://late.example:${new URL(hook.url).port}/`
  t.match(await send(by, url, 100), { kind: 'failure', stage: 'timeout' })
  resolved(['127.0.0.1'])
  t.match(await send(by, url), { status: 200 })
  t.equal(hook.received.length, 1)
})

t.test('an answer stands although its body never ends', async (t) => {
  const hook = await receiver(t, (response) => {
    response.writeHead(429, { 'retry-after': '60' })
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  })
  t.match(await send(poster(t), hook.url, 1_000), { kind: 'answer', status: 429, truncated: true, retryAfter: '60' })
})

t.test('failures are named by where they happened', async (t) => {
  const reset = await rawServer(t, (socket) => socket.on('data', () => socket.resetAndDestroy()))
  t.match(await send(poster(t), reset.url), { kind: 'failure', stage: 'connection' })
  t.match(await send(poster(t), 'http://127.0.0.1:1024/'), { kind: 'failure', stage: 'connect' })
  const junk = await rawServer(t, (socket) => socket.on('data', () => socket.end('not http at all\r\n\r\n')))
  t.match(await send(poster(t), junk.url), { kind: 'failure', stage: 'connection' })
  const nameless = poster(t, loopback, async () => [])
  t.match(await send(nameless, 'http://nowhere.example:8080/'), { kind: 'failure', stage: 'dns' })
})

t.test('proxies of the environment are ignored', async (t) => {
  const proxy = await receiver(t)
  const hook = await receiver(t)
  const named = { http_proxy: proxy.url, HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url, NODE_USE_ENV_PROXY: '1' }
  Object.assign(process.env, named)
  t.teardown(() => { for (const name of Object.keys(named)) Reflect.deleteProperty(process.env, name) })
  t.match(await send(poster(t), hook.url), { status: 200 })
  t.equal(proxy.connections(), 0)
})
