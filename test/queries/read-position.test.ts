// X-Read-Position: every GET says how new it is, and is never older than it was asked to be.
import t from 'tap'
import { summarize } from '../../src/domain/assistant/summary.js'
import { eventually } from '../support/eventually.js'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '2000' })
const projector = await service.start(['projector'])
const hasty = await service.start(['api'], { READ_MODEL_WAIT_MS: '200' })
const { call, parts: { pool, streams } } = service
const routes = ['assistants', 'leads', 'calls', 'assistants/voices', 'assistants/languages', 'assistants/models', 'campaigns', 'phone-numbers']
const at = (position: string | null) => ({ headers: { 'x-read-position': position ?? '' } })

t.test('the body of a write equals the next read at its position, over hundreds of writes at once', async (t) => {
  const differing: unknown[] = []
  await Promise.all(Array.from({ length: 10 }, async (_, writer) => {
    const { body: { data: { id } } } = await call('POST', '/user/assistant', newAssistant)
    for (let round = 0; round < 12; round++) {
      const lead = await call('POST', '/user/lead', { phone_number: `+1888${1000000 + writer * 1000 + round}`, campaign_id: 1, secondary_contacts: [{ phone_number: '+18889999999' }] })
      const readLead = await call('GET', `/user/lead/${lead.body.data.id}`, undefined, at(lead.headers.get('x-read-position')))
      if (JSON.stringify(readLead.body.data) !== JSON.stringify(lead.body.data)) differing.push([lead.body, readLead.body])
      const update = await call('PUT', `/user/assistant/${id}`, { assistant_name: `Desk ${writer}.${round}`, calls_direction: round % 2 ? 'make' : 'receive' })
      const read = await call('GET', `/user/assistant/${id}`, undefined, at(update.headers.get('x-read-position')))
      const { settings, created_at, updated_at } = read.body.data
      const summary = summarize({ assistant_id: id, user_id: '1', settings, created_at, updated_at })
      if (JSON.stringify(summary) !== JSON.stringify(update.body.data)) differing.push([update.body, read.body])
      if (read.headers.get('etag') !== update.headers.get('etag')) differing.push([update.headers.get('etag'), read.headers.get('etag')])
    }
  }))
  t.same(differing, [])
})

t.test('every GET tells a position that it has passed, and that it may be asked for again', async (t) => {
  const head = await streams.head()
  for (const route of routes) {
    const { status, headers } = await call('GET', `/user/${route}`)
    t.equal(status, 200, route)
    const position = headers.get('x-read-position')
    t.match(position, /^\d+$/, route)
    t.ok(BigInt(position ?? -1) <= head, route)
    const again = await call('GET', `/user/${route}`, undefined, at(position))
    t.equal(again.status, 200, route)
    t.ok(BigInt(again.headers.get('x-read-position') ?? -1) >= BigInt(position ?? -1), route)
  }
})

t.test('a read at a later write waits for it in every projection', async (t) => {
  const { headers } = await call('PUT', '/user/assistant/1', { assistant_name: `Renamed ${Date.now()}` })
  const position = headers.get('x-read-position')
  for (const route of [...routes, 'assistant/1', 'assistant/1/history']) {
    const read = await call('GET', `/user/${route}`, undefined, at(position))
    t.equal(read.status, 200, route)
    t.ok(BigInt(read.headers.get('x-read-position') ?? -1) >= BigInt(position ?? -1), route)
  }
})

t.test('a position that is no position is refused by name, together with the query string', async (t) => {
  for (const position of ['x', '-1', '1.5', ' ', '9223372036854775808', '1, 2', '0x10']) {
    const { status, body } = await call('GET', '/user/leads?page=0', undefined, at(position))
    t.equal(status, 422, position)
    t.same(Object.keys(body.errors), ['page', 'X-Read-Position'])
  }
})

t.test('a position that is not there yet is a 503 within the bound, for every GET', async (t) => {
  const authorization = `Bearer ${await service.token('1')}`
  const future = String(await streams.head() + 1_000_000n)
  for (const route of [...routes, 'assistant/1', 'assistant/1/history', 'lead/1', 'call/x']) {
    const from = performance.now()
    const response = await fetch(`${hasty.url}/user/${route}`, { headers: { authorization, 'x-read-position': future } })
    t.equal(response.status, 503, route)
    t.equal(response.headers.get('retry-after'), '1')
    t.same(Object.keys(await response.json() as object), ['message'])
    t.ok(performance.now() - from < 1_500, 'in time')
  }
})

t.test('a position stays right when the connection that listens is lost', async (t) => {
  await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = \'ringledger positions\'')
  for (let round = 0; round < 5; round++) {
    const { headers } = await call('PUT', '/user/assistant/1', { assistant_name: `After ${round}` })
    const read = await call('GET', '/user/assistant/1', undefined, at(headers.get('x-read-position')))
    t.equal(read.body.data.name, `After ${round}`)
    t.ok(BigInt(read.headers.get('x-read-position') ?? -1) >= BigInt(headers.get('x-read-position') ?? 0))
  }
})

t.test('with the projector stopped a write is pending, and a read of it is a 503 rather than an older state', async (t) => {
  const { body: { data: before } } = await call('GET', '/user/assistant/1')
  await projector.stop()
  const pending = await call('PUT', '/user/assistant/1', { assistant_name: 'Pending' })
  t.equal(pending.status, 200)
  t.equal(pending.headers.get('x-read-model'), 'pending')
  t.equal(pending.body.data.name, 'Pending', 'the answer is folded from the events')
  const position = pending.headers.get('x-read-position')
  t.same((await call('GET', '/user/assistant/1')).body.data, before, 'without a position the state of before is an answer')
  t.equal((await call('GET', '/user/assistant/1', undefined, at(position))).status, 503)
  const history = await call('GET', '/user/assistant/1/history', undefined, at(position))
  t.equal(history.status, 200, 'the history is read from the log, which has no lag')
  t.equal(history.body.data[0].changes[0].to, 'Pending')
  await service.start(['projector'])
  const read = await eventually(async () => {
    const answer = await call('GET', '/user/assistant/1', undefined, at(position))
    return answer.status === 200 && answer
  })
  t.equal(read.body.data.name, 'Pending')
})
