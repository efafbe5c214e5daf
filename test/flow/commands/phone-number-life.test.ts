// Phone numbers over HTTP: added, released, taken by another user; and what becomes of assistants with them.
import t from 'tap'
import { importCatalog } from '../../../src/cli/catalog.js'
import { importingOn } from '../../support/commands/handle-on.js'
import { eventually } from '../../support/eventually.js'
import { newAssistant, testService } from '../../support/service.js'

const service = await testService(t)
const { call, parts: { streams } } = service
const keyed = (key: string, user = '1') => ({ user, headers: { 'idempotency-key': key } })
let last = 15559000000
const nextNumber = () => `+${++last}`
const add = (phone_number: unknown, options = {}) => call('POST', '/user/phone-number', { phone_number }, options)
const release = (id: number, options = {}) => call('DELETE', `/user/phone-number/${id}`, undefined, options)
const owned = async (user: string) => (await call('GET', '/user/phone-numbers', undefined, { user })).body.data
const taken = { message: 'The given data was invalid.', errors: { phone_number: ['is taken already'] } }

t.test('a number is added, listed, and held against everybody by the same words', async (t) => {
  const phone_number = nextNumber()
  const { status, body, headers } = await call('POST', '/user/phone-number', { phone_number, label: 'desk' })
  t.equal(status, 201)
  t.strictSame(Object.keys(body.data), ['id', 'phone_number'])
  t.match(body, { message: 'Phone number added successfully', data: { phone_number } })
  t.equal(headers.get('x-ignored-fields'), 'label')
  t.match(await owned('1'), [body.data])
  for (const user of ['1', '2']) {
    const refused = await add(phone_number, { user })
    t.strictSame([refused.status, refused.body], [422, taken], user)
  }
  t.notMatch(JSON.stringify(await owned('2')), phone_number)
})

t.test('a released number is gone for its user, and another takes it and sees nothing of them', async (t) => {
  const phone_number = nextNumber()
  const { id } = (await add(phone_number)).body.data
  t.equal((await release(id, { user: '2' })).status, 404)
  const first = await release(id, keyed('release-once'))
  t.strictSame([first.status, first.body], [200, { message: 'Phone number released successfully' }])
  const again = await release(id, keyed('release-once'))
  t.strictSame([again.status, again.body, again.headers.get('idempotent-replayed')], [200, first.body, 'true'])
  const gone = await release(id)
  t.strictSame([gone.status, gone.body], [404, {
    message: 'Phone number not found or does not belong to the authenticated user'
  }])
  t.notMatch(JSON.stringify(await owned('1')), phone_number)
  const { status, body } = await add(phone_number, { user: '2' })
  t.equal(status, 201)
  t.not(body.data.id, id)
  t.match(await owned('2'), [body.data])
  t.equal((await release(id, keyed('release-once'))).status, 200)
  t.strictSame((await add(phone_number)).body, taken, 'a release that is answered again frees nothing of others')
})

t.test('an assistant whose number was released answers null, in every read, and may not be set to it', async (t) => {
  const { id: phone_number_id } = (await add(nextNumber())).body.data
  const { id } = (await call('POST', '/user/assistant', { ...newAssistant, phone_number_id })).body.data
  await call('PUT', `/user/assistant/${id}`, { speech_speed: 1.1 })
  const read = async (query = '') => (await call('GET', `/user/assistant/${id}${query}`)).body.data.settings.phone_number_id
  t.strictSame([await read(), await read('?revision=0')], [phone_number_id, phone_number_id])
  const { headers } = await release(phone_number_id)
  const seen = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  t.equal((await call('GET', `/user/assistant/${id}`, undefined, seen)).body.data.settings.phone_number_id, null)
  t.strictSame([await read(), await read('?revision=0'), await read('?revision=1')], [null, null, null])
  const refused = await call('PUT', `/user/assistant/${id}`, { phone_number_id })
  t.match(refused.body.errors, { phone_number_id: ['must be one of your phone numbers'] })
  t.equal((await call('PUT', `/user/assistant/${id}`, { phone_number_id: null })).status, 200)
})

t.test('an assistant changes when its number is released: its ETag, its time, and what changed since', async (t) => {
  const { id: phone_number_id } = (await add(nextNumber())).body.data
  const { id } = (await call('POST', '/user/assistant', { ...newAssistant, phone_number_id })).body.data
  const before = await call('GET', `/user/assistant/${id}`)
  t.equal(before.headers.get('etag'), '"0"')
  await eventually(() => new Date().toISOString() > before.body.data.updated_at)
  const { headers } = await release(phone_number_id)
  const seen = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  const after = await call('GET', `/user/assistant/${id}`, undefined, seen)
  t.match(after.headers.get('etag'), /^"0\.[\w-]{27}"$/)
  t.ok(after.body.data.updated_at > before.body.data.updated_at)
  const since = async (time: string) => (await call('GET', `/user/assistants?updated_from=${time}`)).body.data
  t.match(await since(after.body.data.updated_at), [{ id }])
  const put = (etag: string | null) =>
    call('PUT', `/user/assistant/${id}`, { phone_number_id: null }, { headers: { 'if-match': etag ?? '' } })
  t.strictSame([(await put('"1.x"')).status, (await put(after.headers.get('etag'))).status], [412, 200])
  t.equal((await call('GET', `/user/assistant/${id}`)).headers.get('etag'), '"1"')
})

t.test('an import claims what it brings, takes nothing from others and brings back nothing', async (t) => {
  const [first, other] = [nextNumber(), nextNumber()]
  const importing = (user: number, id: number, phone_number: string) =>
    importCatalog(importingOn(streams), { users: [{ id: user, phone_numbers: [{ id, phone_number }] }] })
  await importing(1, 9_000, first)
  t.strictSame((await add(first, { user: '2' })).body, taken)
  await add(other, { user: '2' })
  await t.rejects(importing(1, 9_001, other), { code: 'catalog-conflict' })
  const position = await importing(1, 9_000, first)
  t.equal(position, (await streams.last('phonenumber-9000'))?.position)
  await call('GET', '/user/phone-numbers', undefined, { headers: { 'x-read-position': String(position) } })
  t.equal((await release(9_000)).status, 200)
  await importing(1, 9_000, first)
  t.notMatch(JSON.stringify(await owned('1')), first)
  t.equal((await add(first, { user: '2' })).status, 201)
})
