// Assistants over HTTP: switched off and on, deleted, read as they were, and restored.
import t from 'tap'
import { findAssistant, findAssistantHistory } from '../../../projections/assistants.js'
import { eventually } from '../../support/eventually.js'
import { readScene } from '../../support/http/read-scene.js'

const { service, call, get, create, complete, hook } = await readScene(t)
const { pool } = service.parts
const deleted = { message: 'Assistant deleted successfully' }
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

t.test('PUT switches an assistant off and on: its summary, the list and the history say so', async (t) => {
  const id = await create()
  const off = await call('PUT', `/user/assistant/${id}`, { status: 'inactive', assistant_name: 'Night desk' })
  t.match(off, { status: 200, body: { data: { id, status: 'inactive', name: 'Night desk' } } })
  t.equal(off.headers.get('etag'), '"2"')
  t.match((await get('/user/assistants?status=inactive')).body.data, [{ id, status: 'inactive' }])
  t.match((await get(`/user/assistant/${id}`)).body.data, { status: 'inactive', revision: 2 })
  const { body } = await get(`/user/assistant/${id}/history`)
  t.match(
    body.data[0], { event: 'AssistantDeactivated', changes: [{ field: 'status', from: 'active', to: 'inactive' }] }
  )
  t.match((await call('PUT', `/user/assistant/${id}`, { status: 'active' })).body.data, { status: 'active' })
  t.same((await get('/user/assistants?status=inactive')).body.data, [])
})

t.test('a status that there is not is refused, and a new assistant is active whatever it says', async (t) => {
  const id = await create({ status: 'inactive' })
  t.match((await get(`/user/assistant/${id}`)).body.data, { status: 'active' })
  for (const status of ['deleted', null, 1]) {
    const { status: code, body } = await call('PUT', `/user/assistant/${id}`, { status })
    t.equal(code, 422)
    t.same(Object.keys(body.errors), ['status'])
  }
})

t.test('a deleted assistant is not found on any of its routes, and not listed', async (t) => {
  const id = await create({ assistant_name: 'Unlisted', is_webhook_active: true, webhook_url: hook.url })
  const { status, body, headers } = await call('DELETE', `/user/assistant/${id}`)
  t.equal(status, 200)
  t.strictSame(body, deleted)
  t.equal(headers.get('x-read-model'), null)
  t.match(headers.get('x-read-position'), /^\d+$/)
  const routes = [
    ['GET', ''], ['GET', '?revision=0'], ['GET', '/history'], ['GET', '/webhook-secret'], ['PUT', ''], ['DELETE', ''],
    ['POST', '/restore'], ['POST', '/webhook-test'], ['POST', '/webhook-resume'], ['POST', '/webhook-recover'],
    ['POST', '/webhook-secret'], ['DELETE', '/webhook-secret']
  ] as const
  for (const [method, path] of routes) {
    const sent = path === '/restore' ? { revision: 0 } : path === '/webhook-recover' ? { since: '2026-01-01' } : {}
    const answer = await call(method, `/user/assistant/${id}${path}`, method === 'GET' ? undefined : sent)
    t.equal(answer.status, 404, `${method} ${path}`)
    t.same(Object.keys(answer.body), ['message'], `${method} ${path}`)
  }
  t.same((await get('/user/assistants?name=Unlisted')).body.data, [])
})

t.test('calls that are reported after the deletion are recorded, read and sent', async (t) => {
  const id = await create({ is_webhook_active: true, webhook_url: hook.url })
  await call('DELETE', `/user/assistant/${id}`)
  t.equal((await complete('after-deletion', { assistant_id: id })).status, 202)
  await eventually(
    async () => (await get('/user/call/after-deletion')).body.data?.deliveries[0]?.status === 'delivered'
  )
  t.match((await get(`/user/calls?assistant_id=${id}`)).body.data, [{ call_id: 'after-deletion' }])
})

t.test('only its owner deletes it, at the revision that If-Match names', async (t) => {
  const id = await create()
  t.equal((await call('DELETE', `/user/assistant/${id}`, undefined, { user: '2' })).status, 404)
  await call('PUT', `/user/assistant/${id}`, { speech_speed: 1.1 })
  const at = (revision: number) => ({ headers: { 'if-match': `"${revision}"` } })
  t.equal((await call('DELETE', `/user/assistant/${id}`, undefined, at(0))).status, 412)
  t.equal((await call('DELETE', `/user/assistant/${id}`, undefined, at(1))).status, 200)
})

t.test('a deletion that is sent again under its key is answered as before', async (t) => {
  const id = await create()
  const remove = () => call('DELETE', `/user/assistant/${id}`, undefined, keyed(`delete-${id}`))
  t.match(await remove(), { status: 200, body: deleted })
  const again = await remove()
  t.match(again, { status: 200, body: deleted })
  t.equal(again.headers.get('idempotent-replayed'), 'true')
})

t.test('an assistant is read as it was at each of its revisions, and at no other', async (t) => {
  const id = await create({ speech_speed: 1.1 })
  const first = (await get(`/user/assistant/${id}`)).body.data
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk', status: 'inactive' })
  const at = (revision: unknown, user = '1') => get(`/user/assistant/${id}?revision=${revision}`, user)
  t.strictSame((await at(0)).body.data, first)
  t.match((await at(1)).body.data, { name: 'Night desk', status: 'active', revision: 1 })
  t.strictSame((await at(2)).body, (await get(`/user/assistant/${id}`)).body)
  t.equal((await at(0)).headers.get('etag'), '"0"')
  for (const revision of [3, 2 ** 50]) t.equal((await at(revision)).status, 404, String(revision))
  t.equal((await at(0, '2')).status, 404)
  t.equal((await at('x')).status, 422)
})

t.test('a restore brings the settings of a revision back, as an update that the history tells', async (t) => {
  const id = await create({ speech_speed: 1.1 })
  const before = (await get(`/user/assistant/${id}`)).body.data.settings
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk', speech_speed: 1.2, status: 'inactive' })
  const restored = await call('POST', `/user/assistant/${id}/restore`, { revision: 0 }, keyed(`restore-${id}`))
  t.match(
    restored, { status: 200, body: { message: 'Assistant updated successfully', data: { id, status: 'inactive' } } }
  )
  t.equal(restored.headers.get('etag'), '"3"')
  t.strictSame((await get(`/user/assistant/${id}`)).body.data.settings, before)
  t.match((await get(`/user/assistant/${id}/history`)).body.data[0], { event: 'AssistantUpdated', revision: 3 })
  const again = await call('POST', `/user/assistant/${id}/restore`, { revision: 0 })
  t.equal(again.headers.get('etag'), '"3"', 'nothing differs any more')
  await call('DELETE', `/user/assistant/${id}`)
  const replayed = await call('POST', `/user/assistant/${id}/restore`, { revision: 0 }, keyed(`restore-${id}`))
  t.strictSame(replayed.body, restored.body, 'the answer under a key stays')
})

t.test('a restore names what is wrong: the revision, or what today’s rules refuse', async (t) => {
  const id = await create()
  const restore = (revision: unknown) => call('POST', `/user/assistant/${id}/restore`, { revision })
  for (const revision of [1, -1, 'x', null, undefined, 0.5]) {
    const { status, body } = await restore(revision)
    t.equal(status, 422, String(revision))
    t.same(Object.keys(body.errors), ['revision'], String(revision))
  }
  t.equal((await call('POST', `/user/assistant/${id}/restore`, { revision: 0 }, { user: '2' })).status, 404)
})

t.test('a phone number that was released is not restored: it is refused, or left out', async (t) => {
  const numberOf = async (phone_number: string) => (await call('POST', '/user/phone-number', { phone_number })).body.data.id
  const [gone, kept] = [await numberOf('+15557770001'), await numberOf('+15557770002')]
  const id = await create({ phone_number_id: gone })
  await call('PUT', `/user/assistant/${id}`, { phone_number_id: kept })
  const restore = (more = {}) => call('POST', `/user/assistant/${id}/restore`, { revision: 0, ...more })
  const numberNow = async () => (await get(`/user/assistant/${id}`)).body.data.settings.phone_number_id
  t.equal((await restore()).status, 200)
  t.equal(await numberNow(), gone)
  await call('DELETE', `/user/phone-number/${gone}`)
  for (const phone_number_id of [undefined, kept]) { // also where the assistant still has it
    if (phone_number_id !== undefined) await call('PUT', `/user/assistant/${id}`, { phone_number_id })
    const refused = await restore()
    t.equal(refused.status, 422)
    t.strictSame(refused.body.errors, { phone_number_id: ['must be one of your phone numbers'] })
  }
  t.equal(await numberNow(), kept)
  t.equal((await restore({ without_phone_number: false })).status, 422)
  t.strictSame((await restore({ without_phone_number: 1 })).body.errors, { without_phone_number: ['must be true or false'] })
  t.equal((await restore({ without_phone_number: true })).status, 200)
  t.equal(await numberNow(), null)
})

t.test('what was deleted stays in no finder', async (t) => {
  const id = await create()
  t.match(await findAssistant(pool, '1', id), { assistant_id: id })
  await call('DELETE', `/user/assistant/${id}`)
  t.equal(await findAssistant(pool, '1', id), undefined)
  t.equal(await findAssistantHistory(pool, '1', id, { page: 1, perPage: 1 }), undefined)
})
