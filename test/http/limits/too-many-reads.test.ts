// What a caller is told whose reads are too many at once.
import { once, EventEmitter } from 'node:events'
import fastify from 'fastify'
import t from 'tap'
import { answerError } from '../../../src/errors.js'
import { registerReadSlots } from '../../../src/http/limits.js'

const answering = new EventEmitter()
const app = fastify()
app.setErrorHandler(answerError)
app.decorateRequest('user', { getter: () => ({ id: '1', role: 'user' as const }), setter: () => {} })
registerReadSlots(app, { most: { list: 1, item: 1 }, waitMs: 50 })
app.get('/list', async (request, reply) => {
  await app.acquireReadSlot('list', request, reply)
  answering.emit('begun')
  await once(answering, 'go')
  return { data: [] }
})
app.get('/refused', async (request, reply) => {
  await app.acquireReadSlot('item', request, reply)
  throw new Error('it failed')
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())

t.test('one read too many is a 429 that says when to try again, and the slot is free after the answer', async (t) => {
  for (let round = 0; round < 2; round++) {
    const begun = once(answering, 'begun')
    const first = fetch(`${url}/list`)
    await begun
    const second = await fetch(`${url}/list`)
    t.equal(second.status, 429)
    t.equal(second.headers.get('retry-after'), '1')
    const message = 'Too many of your reads are being answered: try again in a moment.'
    t.strictSame(await second.json(), { message })
    answering.emit('go')
    t.equal((await first).status, 200)
  }
})

t.test('a read that fails gives its slot back', async (t) => {
  for (let round = 0; round < 3; round++) t.equal((await fetch(`${url}/refused`)).status, 500)
})
