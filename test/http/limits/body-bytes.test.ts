// How many bytes of bodies are worked on at once, of one user and of all. Others wait, and are told when in vain.
import { once, EventEmitter } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import { answerError } from '../../../src/errors.js'
import { registerBodyBytes } from '../../../src/http/limits/body-bytes.js'

const kib = 1024
const answering = new EventEmitter()
const app = fastify({ bodyLimit: 50 * kib })
app.setErrorHandler(answerError)
app.decorateRequest('user', {
  getter () { return { id: String(this.headers['x-user']), role: 'user' as const } },
  setter () {}
})
registerBodyBytes(app, { ofUser: 60 * kib, ofAll: 100 * kib, waitMs: 50 })
app.post('/at-once', async () => ({}))
app.post('/later', async () => {
  answering.emit('begun')
  await once(answering, 'go')
  return {}
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
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

t.test('a body too many of one user is a 429 that says when to try again, and others go on', async (t) => {
  for (let round = 0; round < 2; round++) {
    const { answer } = await begin('1', 40 * kib)
    const refused = await post('/at-once', '1', 40 * kib)
    t.equal(refused.status, 429)
    t.equal(refused.headers.get('retry-after'), '1')
    const message = 'Too much of what you sent is being worked on: try again in a moment.'
    t.strictSame(await refused.json(), { message })
    t.equal((await post('/at-once', '2', 40 * kib)).status, 200)
    answering.emit('go')
    t.equal((await answer).status, 200, 'and its share is free after the answer')
  }
})

t.test('bodies too many of all users are a 503', async (t) => {
  const begun = [await begin('1', 50 * kib), await begin('2', 40 * kib)]
  const refused = await post('/at-once', '3', 20 * kib)
  t.equal(refused.status, 503)
  t.equal(refused.headers.get('retry-after'), '1')
  answering.emit('go')
  for (const { answer } of begun) t.equal((await answer).status, 200)
  t.equal((await post('/at-once', '3', 20 * kib)).status, 200)
})

t.test('a body without a declared length counts as the longest that its route takes', async (t) => {
  const { answer } = await begin('1', 20 * kib)
  const chunked = new Blob([body(10)]).stream()
  const refused = await fetch(`${url}/at-once`, { method: 'POST', headers: headers('1'), body: chunked, duplex: 'half' })
  t.equal(refused.status, 429)
  answering.emit('go')
  await answer
})

t.test('a body that is refused, or whose sender leaves, takes no share with it', async (t) => {
  const { hostname, port } = new URL(url)
  const head = ['POST /at-once HTTP/1.1', `Host: ${hostname}`, 'Content-Type: application/json', 'X-User: 1']
  for (let round = 0; round < 4; round++) {
    const arriving = once(app.server, 'request')
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write([...head, `Content-Length: ${40 * kib}`, '', '"half of it'].join('\r\n'))
    const [{ socket: theirs }] = await arriving
    socket.destroy()
    await new Promise((resolve) => theirs.once('close', resolve))
    t.equal((await post('/at-once', '1', 60 * kib)).status, 413)
    const malformed = { method: 'POST', headers: headers('1'), body: '{'.repeat(40 * kib) }
    t.equal((await fetch(`${url}/at-once`, malformed)).status, 400)
    t.equal((await post('/at-once', '1', 40 * kib)).status, 200)
  }
})
