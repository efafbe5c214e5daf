// X-Read-Position: every GET says how new it is, and is never older than it was asked to be.
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t, ['api'], { READ_MODEL_WAIT_MS: '2000' })
const projector = await service.start(['projector'])
const { call, parts: { streams } } = service
const routes = [
  'assistants', 'leads', 'calls', 'assistants/voices', 'assistants/languages', 'assistants/models', 'campaigns',
  'phone-numbers', 'blacklist'
]
const at = (position: string | null) => ({ headers: { 'x-read-position': position ?? '' } })

await call('POST', '/user/assistant', newAssistant)

t.test('every GET tells a position that it has passed, and that it may be asked for again', async (t) => {
  const head = await streams.head()
  for (const route of routes) {
    const position = (await call('GET', `/user/${route}`)).headers.get('x-read-position')
    t.match(position, /^\d+$/, route)
    t.ok(BigInt(position ?? -1) <= head, route)
    const again = await call('GET', `/user/${route}`, undefined, at(position))
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
  const wrong = ['x', '-1', '1.5', ' ', '9223372036854775808', '1, 2', '0x10', '1e3', '+1', '9'.repeat(1_000)]
  for (const position of wrong) {
    const { status, body } = await call('GET', '/user/leads?page=0', undefined, at(position))
    t.equal(status, 422, position)
    t.same(Object.keys(body.errors), ['page', 'X-Read-Position'])
  }
})

t.test('a position that is not there yet is a 503, for every GET', async (t) => {
  const future = await streams.head() + 1_000_000n
  await Promise.all([...routes, 'assistant/1', 'assistant/1/history', 'lead/1', 'call/x'].map(async (route, nth) => {
    const position = at(String(route === 'leads' ? 2n ** 63n - 1n : future))
    const user = route.includes('/') ? '1' : String(nth) // three lists of a user are read at once
    const { status, headers, body } = await call('GET', `/user/${route}`, undefined, { user, ...position })
    t.strictSame([status, headers.get('retry-after'), Object.keys(body)], [503, '1', ['message']], route)
  }))
})

t.test('while the projector is stopped a write is pending, and a read of it is a 503, not an older state', async (t) => {
  const { body: { data: before } } = await call('GET', '/user/assistant/1')
  await projector.stop()
  const pending = await call('PUT', '/user/assistant/1', { assistant_name: 'Pending' })
  t.equal(pending.status, 200)
  t.equal(pending.headers.get('x-read-model'), 'pending')
  t.equal(pending.body.data.name, 'Pending', 'the answer is folded from the events')
  const position = pending.headers.get('x-read-position')
  t.same((await call('GET', '/user/assistant/1')).body.data, before, 'without a position the state of before is an answer')
  for (const path of ['1', '1/history']) t.equal((await call('GET', `/user/assistant/${path}`, undefined, at(position))).status, 503)
  await service.start(['projector'])
  const read = await eventually(async () => {
    const answer = await call('GET', '/user/assistant/1', undefined, at(position))
    return answer.status === 200 && answer
  })
  t.equal(read.body.data.name, 'Pending')
  const history = await call('GET', '/user/assistant/1/history')
  t.equal(history.body.data[0].changes[0].to, 'Pending', 'the history is as new as the assistant')
})
