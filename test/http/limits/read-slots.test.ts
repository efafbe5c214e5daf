// How many reads of one user are answered at once: the others wait, and nobody else waits for them.
import { once, EventEmitter } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { testService } from '../../support/service.js'
import type { Teardown } from '../../support/teardown.js'
import fastify from 'fastify'
import { answerError } from '../../../src/errors.js'
import { registerReadSlots } from '../../../src/http/limits.js'

const service = await testService(t)
const { call, parts: { pool }, url } = service

/** Lists of leads wait from now on. @returns ends that */
async function lockLeads (t: Teardown): Promise<() => Promise<unknown>> {
  const lock = await pool.connect()
  t.teardown(() => lock.release())
  await lock.query('BEGIN; LOCK TABLE read_leads_g1.leads')
  return () => lock.query('COMMIT')
}

/** How many statements wait for a table that is locked. */
async function waitingStatements (): Promise<number> {
  const { rows: [row] } = await pool.query<{ count: number }>(`
    SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%json_agg%'`)
  return row?.count ?? 0
}

t.test('three lists of one user are read at once; those of others are read beside them', async (t) => {
  const unlock = await lockLeads(t)
  const lists = Array.from({ length: 8 }, () => call('GET', '/user/leads'))
  const other = call('GET', '/user/leads', undefined, { user: '2' })
  await eventually(async () => await waitingStatements() === 4)
  t.equal((await call('GET', '/user/assistant/1')).status, 404, 'one thing has slots of its own')
  await unlock()
  t.strictSame((await Promise.all([...lists, other])).map(({ status }) => status), Array(9).fill(200))
})

const ask = `GET /user/leads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await service.token('1')}\r\n\r\n`
const asking = (times = 1) => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  socket.write(ask.repeat(times))
  return socket
}

t.test('who hangs up and asks again has no more lists read at once', async (t) => {
  const unlock = await lockLeads(t)
  const sockets = Array.from({ length: 3 }, () => asking())
  await eventually(async () => await waitingStatements() === 3)
  for (const socket of sockets) socket.destroy()
  const again = call('GET', '/user/leads')
  const other = call('GET', '/user/leads', undefined, { user: '2' })
  await eventually(async () => await waitingStatements() === 4)
  await unlock()
  t.strictSame([(await again).status, (await other).status], [200, 200])
})

t.test('a connection that ends while its requests wait behind one another leaves no slot taken', async (t) => {
  const unlock = await lockLeads(t)
  const socket = asking(6)
  await eventually(async () => await waitingStatements() === 3)
  socket.destroy()
  await once(socket, 'close')
  await unlock()
  const lists = await Promise.all(Array.from({ length: 6 }, () => call('GET', '/user/leads')))
  t.strictSame(lists.map(({ status }) => status), Array(6).fill(200))
})

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
const appUrl = await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())

t.test('one read too many is a 429 that says when to try again, and the slot is free after the answer', async (t) => {
  for (let round = 0; round < 2; round++) {
    const begun = once(answering, 'begun')
    const first = fetch(`${appUrl}/list`)
    await begun
    const second = await fetch(`${appUrl}/list`)
    t.equal(second.status, 429)
    t.equal(second.headers.get('retry-after'), '1')
    const message = 'Too many of your reads are being answered: try again in a moment.'
    t.strictSame(await second.json(), { message })
    answering.emit('go')
    t.equal((await first).status, 200)
  }
})

t.test('a read that fails gives its slot back', async (t) => {
  for (let round = 0; round < 3; round++) t.equal((await fetch(`${appUrl}/refused`)).status, 500)
})
