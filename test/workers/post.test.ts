import t from 'tap'
import { createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import type { Result } from '../../workers/outcome.js'
import { openPoster, type Poster } from '../../workers/post.js'
import type { Resolve } from '../../workers/guard.js'
import { answers, receiver } from '../support/receiver.js'

const loopback = { allowCidrs: ['127.0.0.0/8'] }
const never = new AbortController().signal

function poster (t: Tap, guard: { allowCidrs: string[] } = loopback, resolve?: Resolve): Poster {
  const opened = openPoster(guard, resolve)
  t.teardown(() => opened.close())
  return opened
}
type Tap = Pick<typeof t, 'teardown'>

const send = (by: Poster, url: string, timeoutMs = 5_000): Promise<Result> =>
  by.post({ url, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":"é"}'), timeoutMs, signal: never })

/** A TCP server that does as it is told with each connection. */
async function rawServer (t: Tap, serve: (socket: Socket, count: number) => void): Promise<{ url: string, connections: () => number }> {
  let count = 0
  const server = createServer((socket) => { socket.on('error', () => {}); serve(socket, ++count) }).listen(0, '127.0.0.1')
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await once(server, 'listening')
  t.teardown(() => { for (const socket of sockets) socket.destroy(); server.close() })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}/`, connections: () => count }
}

t.test('the body arrives byte for byte, and the answer is told', async (t) => {
  const hook = await receiver(t, answers(503, { 'retry-after': '7' }, 'busy\0'))
  t.same(await send(poster(t), hook.url), { kind: 'answer', status: 503, retryAfter: '7', excerpt: 'busy\uFFFD', truncated: false })
  t.equal(hook.received[0]?.body.toString(), '{"a":"é"}')
  t.equal(hook.received[0]?.headers['content-length'], '10')
})

t.test('a redirect is an answer and is never followed', async (t) => {
  const target = await receiver(t)
  for (const status of [301, 302, 303, 307, 308]) {
    const hook = await receiver(t, answers(status, { location: target.url }))
    t.match(await send(poster(t), hook.url), { kind: 'answer', status })
  }
  t.equal(target.connections(), 0)
})

t.test('of the answer 64 KiB are read and 16 KiB kept', async (t) => {
  const wrote = { bytes: 0 }
  const hook = await receiver(t, (response) => {
    response.writeHead(200)
    const more = () => { while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x'))) wrote.bytes += 65_536 }
    response.on('drain', more)
    more()
  })
  const result = await send(poster(t), hook.url)
  t.match(result, { kind: 'answer', status: 200, truncated: true })
  t.equal(result.kind === 'answer' && result.excerpt.length, 16 * 1024)
})

t.test('one deadline cuts headers that do not come and counts as a time-out', async (t) => {
  const silent = await receiver(t, () => {})
  t.match(await send(poster(t), silent.url, 200), { kind: 'failure', stage: 'timeout' })
  const drip = await rawServer(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x-drip: 1\r\n'), 20)
    socket.on('close', () => clearInterval(timer))
  })
  t.match(await send(poster(t), drip.url, 200), { kind: 'failure', stage: 'timeout' })
})

t.test('a 2xx stands although its body never ends', async (t) => {
  const hook = await receiver(t, (response) => {
    response.writeHead(202)
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  })
  t.match(await send(poster(t), hook.url, 200), { kind: 'answer', status: 202, truncated: true })
})

t.test('failures are named by where they happened', async (t) => {
  const reset = await rawServer(t, (socket) => socket.on('data', () => socket.resetAndDestroy()))
  t.match(await send(poster(t), reset.url), { kind: 'failure', stage: 'connection' })
  t.match(await send(poster(t), 'http://127.0.0.1:1024/'), { kind: 'failure', stage: 'connect' })
  t.match(await send(poster(t), reset.url.replace('http:', 'https:')), { kind: 'failure' })
  const junk = await rawServer(t, (socket) => socket.on('data', () => socket.end('not http at all\r\n\r\n')))
  t.match(await send(poster(t), junk.url), { kind: 'failure', stage: 'connection' })
  const plain = await receiver(t)
  t.match(await send(poster(t), plain.url.replace('http:', 'https:')), { kind: 'failure', stage: 'tls' })
  t.match(await send(poster(t, loopback, async () => []), 'http://nowhere.example:8080/'), { kind: 'failure', stage: 'dns' })
})

t.test('a kept-alive connection that was closed as we used it costs no attempt', async (t) => {
  const server = await rawServer(t, (socket, count) => {
    let requests = 0
    socket.on('data', () => {
      requests += 1
      if (count === 1 && requests === 2) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
  })
  const by = poster(t)
  t.match(await send(by, server.url), { status: 200 })
  t.match(await send(by, server.url), { status: 200 })
  t.equal(server.connections(), 2)
})

t.test('a blocked address sees no connection, however it is spelled or resolved', async (t) => {
  const hook = await receiver(t)
  const port = new URL(hook.url).port
  const closed = { allowCidrs: [] }
  for (const host of ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.0.0.1.', '127。0。0。1', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', 'localhost', '0']) {
    t.match(await send(poster(t, closed), `http://${host}:${port}/`), { kind: 'failure', stage: 'blocked' }, host)
  }
  for (const addresses of [['127.0.0.1'], ['::ffff:127.0.0.1'], ['10.0.0.1', '127.0.0.1'], ['::1', '169.254.169.254']]) {
    const result = await send(poster(t, closed, async () => addresses), `http://hook.example:${port}/`)
    t.match(result, { kind: 'failure', stage: 'blocked' }, addresses.join())
    t.notMatch(JSON.stringify(result), /127|10\.0|169/, 'and users do not learn where the name led')
  }
  t.match(await send(poster(t), 'http://127.0.0.1:22/'), { kind: 'failure', stage: 'blocked', message: /port/ })
  t.equal(hook.connections(), 0)
})

t.test('of a mixed answer only the allowed addresses are used', async (t) => {
  const hook = await receiver(t)
  const trap = await receiver(t, answers(200), '127.0.0.2')
  const port = new URL(hook.url).port
  const by = poster(t, { allowCidrs: ['127.0.0.1/32'] }, async () => ['127.0.0.2', '127.0.0.1', '10.0.0.1'])
  t.match(await send(by, `http://hook.example:${port}/`), { kind: 'answer', status: 200 })
  t.equal(trap.connections(), 0)
})

t.test('a name is resolved once a connection: what was checked is what is connected to', async (t) => {
  const hook = await receiver(t, answers(200, { connection: 'close' }))
  let asked = 0
  const rebinding: Resolve = async () => ++asked === 1 ? ['127.0.0.1'] : ['127.0.0.9']
  const by = poster(t, { allowCidrs: ['127.0.0.1/32'] }, rebinding)
  const url = `http://hook.example:${new URL(hook.url).port}/`
  t.match(await send(by, url), { kind: 'answer', status: 200 })
  t.equal(asked, 1)
  t.match(await send(by, url), { kind: 'failure', stage: 'blocked' }, 'and is checked again for the next one')
  t.equal(hook.received.length, 1)
})

t.test('proxies of the environment are ignored', async (t) => {
  const proxy = await receiver(t)
  const hook = await receiver(t)
  const before = { ...process.env }
  t.teardown(() => { process.env = before })
  Object.assign(process.env, { http_proxy: proxy.url, HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url, NODE_USE_ENV_PROXY: '1' })
  t.match(await send(poster(t), hook.url), { status: 200 })
  t.equal(proxy.connections(), 0)
})

t.test('a signal hands the attempt over: nothing is told about it', async (t) => {
  const silent = await receiver(t, () => {})
  const stop = new AbortController()
  const sending = poster(t).post({ url: silent.url, headers: {}, body: Buffer.from('{}'), timeoutMs: 5_000, signal: stop.signal })
  stop.abort(new Error('stopping'))
  await t.rejects(sending, /stopping/)
})
