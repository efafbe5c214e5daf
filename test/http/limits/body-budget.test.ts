// How many bytes of bodies are worked on at once: bytes count as they come, and who takes most is refused, nobody else.
import { once, EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import { answerError } from '../../../src/errors.js'
import type { App } from '../../../src/http/app-types.js'
import { limitBodies } from '../../../src/http/limits.js'
import { eventually } from '../../support/eventually.js'

const kib = 1024
const answering = new EventEmitter().setMaxListeners(100)
const app: App = fastify({ bodyLimit: 50 * kib })
app.setErrorHandler(answerError)
app.decorateRequest('user', {
  getter () { return (this.headers['x-user'] && { id: String(this.headers['x-user']), role: 'user' as const }) as never },
  setter () {}
})
limitBodies(app, { ofAll: 400 * kib, waitMs: 100 })
app.post('/at-once', async () => ({}))
app.post('/later', async () => {
  answering.emit('begun')
  await once(answering, 'go')
  return {}
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const { hostname, port } = new URL(url)
t.teardown(() => app.close())

const body = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))
const headers = (user: string) => ({ 'content-type': 'application/json', 'x-user': user })
const post = (path: string, user: string, bytes: number) =>
  fetch(url + path, { method: 'POST', headers: headers(user), body: body(bytes) })

/** Resolves when it is being worked on. */
async function begin (user: string, bytes: number): Promise<{ answer: Promise<Response> }> {
  const begun = once(answering, 'begun')
  const answer = post('/later', user, bytes)
  await begun
  return { answer }
}

interface Slow { socket: Socket, received (): string }

/** A body in chunks that says so and sends these bytes of it, and no more. Resolves when the service has the head. */
async function slow (sender: Record<string, string>, bytes = 0): Promise<Slow> {
  const arriving = once(app.server, 'request')
  const socket = connect(Number(port), hostname).on('error', () => {})
  t.teardown(() => socket.destroy())
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => { received += text })
  const length = 'Content-Length' in sender ? {} : { 'Transfer-Encoding': 'chunked' }
  const given = Object.entries({ 'Content-Type': 'application/json', ...length, ...sender })
  const head = ['POST /at-once HTTP/1.1', 'Host: x', ...given.map(([name, value]) => `${name}: ${value}`)]
  socket.write(`${head.join('\r\n')}\r\n\r\n${bytes > 0 ? `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n` : ''}`)
  await arriving
  return { socket, received: () => received }
}

async function allSlow (senders: string[], bytes = 0): Promise<Slow[]> {
  const slows: Slow[] = []
  for (const user of senders) slows.push(await slow({ 'X-User': user }, bytes))
  return slows
}

const isRefused = ({ received }: Slow) => received().startsWith('HTTP/1.1 429')
const end = (slows: Slow[]) => { for (const { socket } of slows) socket.destroy() }

t.test('one user beyond a quarter is a 429 that says when to try again, and others go on', async (t) => {
  for (let round = 0; round < 2; round++) {
    const begun = [await begin('1', 45 * kib), await begin('1', 35 * kib)]
    const refused = await post('/at-once', '1', 40 * kib)
    t.equal(refused.status, 429)
    t.equal(refused.headers.get('retry-after'), '1')
    const message = 'Too much of what you sent is being worked on: try again in a moment.'
    t.strictSame(await refused.json(), { message })
    t.equal((await post('/at-once', '2', 40 * kib)).status, 200)
    answering.emit('go')
    for (const { answer } of begun) t.equal((await answer).status, 200, 'and its share is free after the answer')
  }
})

t.test('a body that does not come costs 8 KiB and holds up nobody, not even its own user', async (t) => {
  const slows = await allSlow(Array<string>(10).fill('1'))
  t.equal((await post('/at-once', '1', 5 * kib)).status, 200)
  t.equal((await post('/at-once', '2', 45 * kib)).status, 200)
  end(slows)
})

t.test('many users with slow bodies: who takes most is refused, and nobody else', async (t) => {
  const slows = await allSlow(['1', '2', '3', '4', '5', '1', '2', '3', '4', '5'], 40 * kib)
  await eventually(() => slows.some(isRefused))
  t.equal((await post('/at-once', '6', 20 * kib)).status, 200, 'a stranger to all of that goes on')
  t.equal((await post('/at-once', '7', 40 * kib)).status, 200)
  t.notOk(slows.some(({ received }) => received().includes('HTTP/1.1 5')), 'no 5xx')
  end(slows)
})

t.test('no body is asked for that is refused anyway', async (t) => {
  const expecting = { 'X-User': '1', Expect: '100-continue' }
  const taken = await slow(expecting)
  await eventually(() => taken.received().startsWith('HTTP/1.1 100 Continue'))
  taken.socket.destroy()
  const tooLong = await slow({ ...expecting, 'Content-Length': String(60 * kib) })
  await eventually(() => tooLong.received() !== '')
  t.match(tooLong.received(), /^HTTP\/1.1 413 .*connection: close/is)
})

t.test('a body that is refused, or whose sender leaves, takes no share with it', async (t) => {
  for (let round = 0; round < 4; round++) {
    const { socket } = await slow({ 'X-User': '1' }, 40 * kib)
    socket.destroy()
    t.equal((await post('/at-once', '1', 60 * kib)).status, 413)
    const malformed = { method: 'POST', headers: headers('1'), body: '{'.repeat(40 * kib) }
    t.equal((await fetch(`${url}/at-once`, malformed)).status, 400)
    for (let nth = 0; nth < 5; nth++) t.equal((await post('/at-once', '1', 45 * kib)).status, 200)
  }
})
