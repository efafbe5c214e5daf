// The side of the port that speaks HTTP/1.1 answers, or closes, whatever it is sent, and the server goes on.
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { seedOf } from '@ringledger/embedded-postgres/testing'
import fc from 'fast-check'
import t from 'tap'
import { listen } from '../../src/listen.js'
import { scratchEventStore } from '../support/scratch-event-store.js'

const { store } = await scratchEventStore(t)
const idle = { isReady: () => true, startScavenge: () => ({ id: '', isNew: true }) }

/** What comes back until the connection ends; `bytes` are sent as they are. */
async function answerTo (bytes: string | Buffer): Promise<string> {
  const socket = connectSocket(store.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => { answer += chunk.toString('latin1') })
  socket.on('error', () => {}) // it may be reset: the end counts
  await once(socket, 'connect')
  socket.end(bytes)
  if (!socket.closed) await once(socket, 'close')
  return answer
}

const health = async () => (await fetch(`http://127.0.0.1:${store.port}/health/live`)).status
const request = (line: string) => `${line}\r\nHost: a\r\nConnection: close\r\n\r\n`
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

t.test('any target of a request gets an answer', async (t) => {
  const answers: Array<[line: string, status: number]> = [
    ['GET // HTTP/1.1', 404], ['GET http://[ HTTP/1.1', 404], ['GET http://a/health/live HTTP/1.1', 204],
    ['GET /health/live?liveCode=200 HTTP/1.1', 200], ['GET /health/live?liveCode=%zz HTTP/1.1', 204],
    ['GET ///health/live HTTP/1.1', 404], ['OPTIONS * HTTP/1.1', 404], ['GET /%00%ff HTTP/1.1', 404],
    ['CONNECT a:1 HTTP/1.1', 404], ['GET /streams/a?b HTTP/1.1', 501], ['POST /health/live HTTP/1.1', 404], ['BREW / HTTP/1.1', 400]
  ]
  for (const [line, status] of answers) t.equal(statusOf(await answerTo(request(line))), status, line)
  t.equal(await health(), 204)
})

t.test('the first bytes may come one by one', async (t) => {
  const socket = connectSocket(store.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.setNoDelay(true)
  const answered = once(socket, 'data')
  for (const character of request('PUT /health/live HTTP/1.1')) {
    await new Promise<void>((resolve) => { socket.write(character, () => { setImmediate(resolve) }) })
  }
  const [answer] = await answered as [Buffer]
  t.equal(statusOf(answer.toString()), 404)
})

t.test('a connection that asks slowly ends, however often it sends something', async (t) => {
  const listener = await listen({ host: '127.0.0.1', port: 0, patienceMs: 300 }, idle, () => {})
  t.teardown(() => {
    listener.destroy()
    listener.stop()
  })
  for (const begin of ['GET / HT', request('POST / HTTP/1.1').replace('close', 'keep-alive\r\nContent-Length: 1000')]) {
    const socket = connectSocket(listener.port, '127.0.0.1')
    socket.on('error', () => {}).resume().write(begin)
    const trickle = setInterval(() => socket.write('x'), 50)
    t.teardown(() => clearInterval(trickle))
    await once(socket, 'close')
  }
})

t.test('no bytes end the server', async (t) => {
  const word = fc.constantFrom(
    'GET', 'PRI', 'PRI * HTTP/2.0', 'CONNECT', 'HEAD', '/', '//', '*', 'http://[', 'a:b', '%', '?liveCode=999', '/streams',
    'HTTP/1.1', 'HTTP/9.9', '\r\n', '\n', '\0', 'Host: a', 'Upgrade: h2c', 'Connection: upgrade', 'Content-Length: -1',
    'Transfer-Encoding: chunked', 'Expect: 100-continue', 'SM\r\n\r\n'
  )
  const text = fc.array(fc.oneof(word, fc.string({ maxLength: 5 })), { maxLength: 12 })
    .chain((words) => fc.constantFrom(' ', '\r\n', '').map((between) => Buffer.from(words.join(between), 'latin1')))
  const noise = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes))
  await fc.assert(fc.asyncProperty(fc.oneof(text, noise), async (bytes) => { await answerTo(bytes) }), {
    seed: seedOf('FUZZ_SEED'), numRuns: 150
  })
  t.equal(await health(), 204)
})
