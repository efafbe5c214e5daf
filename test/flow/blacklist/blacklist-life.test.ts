// Numbers that must not be called, over HTTP: listed, asked for by engines, taken off.
import t from 'tap'
import { readScene } from '../../support/scenes/scenes.js'

const { service, call, get, create } = await readScene(t)
let last = 15557000000
const newNumber = () => `+${++last}`
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const list = (body: object, options = {}) => call('POST', '/user/blacklist', body, options)
const listNumber = async (phone_number: string) => (await list({ phone_number })).body.data.id
const unlist = (id: number, options = {}) => call('DELETE', `/user/blacklist/${id}`, undefined, options)

async function ask (phoneNumber: string, assistantId: unknown, role = 'engine') {
  const headers = { authorization: `Bearer ${await service.token('engine', role)}` }
  const query = assistantId === undefined ? '' : `?assistant_id=${assistantId}`
  return await call('GET', `/engine/blacklist/${encodeURIComponent(phoneNumber)}${query}`, undefined, { headers })
}

t.test('a number is listed once, whatever comes with it again', async (t) => {
  const phone_number = newNumber()
  const { status, body, headers } = await list({ phone_number, reason: 'Asked for it', note: 'x' })
  t.equal(status, 201)
  t.equal(headers.get('x-ignored-fields'), 'note')
  t.equal(headers.get('etag'), '"0"')
  t.strictSame(Object.keys(body.data), ['id', 'phone_number', 'reason', 'created_at'])
  t.match(body, { message: 'Phone number blacklisted successfully', data: { phone_number, reason: 'Asked for it' } })
  const again = await list({ phone_number, reason: 'Another' })
  t.strictSame([again.status, again.body], [200, body])
  t.strictSame((await get('/user/blacklist')).body.data, [body.data])
  t.strictSame((await get('/user/blacklist', '2')).body.data, [])
  t.equal((await list({ phone_number }, { user: '2' })).status, 201, 'each user has a list of their own')
})

t.test('a retry under its key answers as the first time, also after the number was listed anew', async (t) => {
  const phone_number = newNumber()
  const first = await list({ phone_number }, keyed('list-once'))
  t.strictSame([first.status, first.body.data.reason], [201, null])
  const { id } = first.body.data
  t.equal((await unlist(id, keyed('unlist-once'))).status, 200)
  const anew = await list({ phone_number })
  t.equal(anew.status, 201)
  t.not(anew.body.data.id, id)
  const again = await list({ phone_number }, keyed('list-once'))
  t.strictSame([again.status, again.body, again.headers.get('idempotent-replayed')], [201, first.body, 'true'])
  t.equal((await unlist(id, keyed('unlist-once'))).headers.get('idempotent-replayed'), 'true')
  t.match(
    (await get('/user/blacklist')).body.data[0], anew.body.data, 'a deletion that is answered again deletes nothing'
  )
})

t.test('what is no number, and a reason that is too long, are refused', async (t) => {
  for (const wrong of ['15551230001', '+0155', '', null, 5, undefined]) {
    const { status, body } = await list({ phone_number: wrong })
    t.strictSame([status, Object.keys(body.errors)], [422, ['phone_number']], String(wrong))
  }
  for (const reason of ['x'.repeat(256), null, 5, 'a\0b']) {
    t.strictSame(Object.keys((await list({ phone_number: newNumber(), reason })).body.errors), ['reason'])
  }
  t.equal((await list({ phone_number: newNumber(), reason: '😀'.repeat(255) })).status, 201)
})

t.test('an entry is deleted once, by its user, under its ETag', async (t) => {
  const id = await listNumber(newNumber())
  const missing = 'Blacklist entry not found or does not belong to the authenticated user'
  const others = await unlist(id, { user: '2' })
  t.strictSame([others.status, others.body], [404, { message: missing }])
  t.equal((await unlist(id, { headers: { 'if-match': '"7"' } })).status, 412)
  const { status, body } = await unlist(id, { headers: { 'if-match': '"0"' } })
  t.strictSame([status, body], [200, { message: 'Blacklist entry deleted successfully' }])
  t.strictSame([(await unlist(id)).status, (await unlist(2 ** 60)).status], [404, 404])
  t.notOk((await get('/user/blacklist')).body.data.some((entry: { id: number }) => entry.id === id))
})

t.test('the list is paged by numbers and by cursors', async (t) => {
  const numbers = Array.from({ length: 5 }, newNumber)
  for (const phone_number of numbers) await list({ phone_number }, { user: '3' })
  const newestFirst = numbers.toReversed()
  const listed = ({ data }: { data: { phone_number: string }[] }) => data.map(({ phone_number }) => phone_number)
  const { body: whole } = await get('/user/blacklist', '3')
  t.strictSame(listed(whole), newestFirst)
  t.match(whole.meta, { page: 1, per_page: 100, total: 5, last_page: 1, next: null })
  const { body: first } = await get('/user/blacklist?per_page=3&after=', '3')
  t.notHas(first.meta, { total: 5 })
  const { body: rest } = await get(`/user/blacklist?per_page=3&after=${first.meta.next}`, '3')
  t.strictSame([...listed(first), ...listed(rest)], newestFirst)
  t.strictSame(Object.keys((await get('/user/blacklist?after=x', '3')).body.errors), ['after'])
})

t.test('engines ask for a number of the user of an assistant', async (t) => {
  const phone_number = newNumber()
  const [own, others] = [await create(), await create({ phone_number_id: null }, '2')]
  const isListed = async (assistant: number) => (await ask(phone_number, assistant)).body
  t.strictSame(await isListed(own), { data: { blacklisted: false } })
  const id = await listNumber(phone_number)
  t.strictSame(await isListed(own), { data: { blacklisted: true } })
  t.strictSame(await isListed(others), { data: { blacklisted: false } })
  await unlist(id)
  t.strictSame(await isListed(own), { data: { blacklisted: false } })
  const fields = async (number: string, assistant: unknown) => {
    const { status, body } = await ask(number, assistant)
    return [status, Object.keys(body.errors).sort()]
  }
  t.strictSame(await fields(phone_number, 999_999), [422, ['assistant_id']])
  t.strictSame(await fields(phone_number, undefined), [422, ['assistant_id']])
  t.strictSame(await fields('555', 'x'), [422, ['assistant_id', 'phone_number']])
  t.equal((await ask(phone_number, own, 'ops')).status, 403)
  t.equal((await get(`/engine/blacklist/${phone_number}?assistant_id=${own}`)).status, 403)
})
