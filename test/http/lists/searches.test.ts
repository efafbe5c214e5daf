// Lists of calls by name, and of what is a user's own by name, number and time of change.
import t from 'tap'
import { readScene } from '../../support/scenes/scenes.js'

const { service, call, get, create, complete } = await readScene(t)
const idsIn = ({ body }: { body: { data: Array<{ id: number }> } }) => body.data.map(({ id }) => id)

t.test('calls are searched by the words that their lead or contact has now', async (t) => {
  const assistant_id = await create()
  const contact = { phone_number: '+15556660002', variables: { customer_name: 'Grace Hopper' } }
  const { id, secondary_contacts: [{ id: contactId }] } = (await call('POST', '/user/lead', {
    phone_number: '+15556660001', campaign_id: 1, variables: { customer_name: 'Ada Lovelace' }, secondary_contacts: [contact]
  })).body.data
  await complete('of-lead', { assistant_id, lead_id: id })
  await complete('of-contact', { assistant_id, lead_id: contactId })
  const reported = await complete('of-nobody', { assistant_id })
  const found = async (query: string, written = reported) => {
    const headers = { 'x-read-position': written.headers.get('x-read-position') ?? '' }
    const { status, body } = await call('GET', `/user/calls?${query}`, undefined, { headers })
    t.equal(status, 200, query)
    t.equal(body.meta.total, body.data.length, query)
    return body.data.map(({ call_id }: { call_id: string }) => call_id)
  }
  t.strictSame(await found('search=ada'), ['of-lead'])
  t.strictSame(await found('search=GRACE%20H&status=completed'), ['of-contact'])
  t.strictSame(await found('search=lovelace'), ['of-lead'])
  t.strictSame(await found('search=love%2015556'), ['of-lead'])
  t.strictSame(await found('search=ada%20grace'), [], 'one person has all the words')
  t.strictSame(await found('search=%25'), [])
  t.match((await get('/user/calls/export?format=ndjson&search=ada')).body, { call_id: 'of-lead' })

  const renamed = await call('PUT', `/user/lead/${id}`, { variables: { customer_name: 'Countess' } })
  t.strictSame(await found('search=count', renamed), ['of-lead'], 'a read at the position of the change knows it')
  t.strictSame(await found('search=ada', renamed), [])
  const deleted = await call('DELETE', `/user/lead/${id}`)
  t.strictSame(await found('search=count', deleted), ['of-lead'], 'a call of a lead that was deleted is still there')
  t.strictSame((await get('/user/calls?search=count', '2')).body.data, [], 'of another user there is none')
})

t.test('campaigns are searched by the words of their name, and by when they changed', async (t) => {
  const named = async (name: string) => (await call('POST', '/user/campaign', { name })).body.data.id
  const [winter, other] = [await named('Été & WINTER 50%'), await named('Something else, winterly')]
  for (const [search, ids] of [
    ['wint', [other, winter]], ['été', [winter]], ['ETE', [winter]], ['50%', [winter]], ['%', []], ['inter', []],
    ['else some', [other]], ['winter some 50', []]
  ] as const) {
    t.strictSame(idsIn(await get(`/user/campaigns?search=${encodeURIComponent(search)}`)), ids, search)
  }
  const { updated_at } = (await call('PUT', `/user/campaign/${winter}`, { name: 'Winter, later' })).body.data
  t.strictSame(idsIn(await get(`/user/campaigns?updated_from=${updated_at}`)), [winter])
  t.strictSame(idsIn(await get('/user/campaigns?search=été')), [])
  t.match((await get('/user/campaigns?search=&updated_from=now')).body.errors, { search: [String], updated_from: [String] })
})

t.test('leads are searched by words of name, e-mail and number, their own or of one contact', async (t) => {
  const lead = async (customer_name: string, email: string, phone_number: string, contacts: object[] = []) => {
    const body = { phone_number, campaign_id: 2, variables: { customer_name, email }, secondary_contacts: contacts }
    return (await call('POST', '/user/lead', body)).body.data.id
  }
  const grace = { phone_number: '+15556663300', variables: { customer_name: 'Grace Brewster Hopper', email: 'g.hopper@navy.example' } }
  const neil = await lead("Conan O'Neil", 'Conan@Mail.example', '+15556663001')
  const jose = await lead('José Łukasz', 'jl_9@post.example', '+4915556663002', [grace])
  const found = async (search: string) => idsIn(await get(`/user/leads?campaign_id=2&search=${encodeURIComponent(search)}`))
  for (const [search, ids] of [
    ['Neil', [neil]], ["O'Neil", [neil]], ['O’NEIL', [neil]], ['oneil', [neil]], ['eil', []], ['neil con', [neil]],
    ['mail', [neil]], ['conan@mail.ex', [neil]], ['post example', [jose]], ['jose', [jose]], ['JOSÉ luk', [jose]], ['9@post', [jose]],
    ['hopper', [jose]], ['brew navy', [jose]], ['jose grace', []], ['15556663', [jose, neil]], ['+1 555 666 33', [jose]],
    ['+4915', [jose]], ['neil 15556663001', [neil]], ['6663', []], ['%', []], ['_', []], ["'", []], ["neil':* | 'x", []], ['\\', []]
  ] as const) t.strictSame(await found(search), ids, search)
  t.match((await get('/user/leads/export?format=ndjson&search=brew')).body, { id: jose })
  await call('PUT', `/user/lead/${jose}`, { variables: { customer_name: 'Zoë' }, secondary_contacts: [] })
  t.strictSame([await found('zoe'), await found('luk'), await found('hopper')], [[jose], [], []])
  await call('DELETE', `/user/lead/${jose}`)
  t.strictSame(await found('zoe'), [])
})

t.test('phone numbers and do-not-call entries are searched by how the number begins, and by when they changed', async (t) => {
  const lists = [['phone-number', '/user/phone-numbers'], ['blacklist', '/user/blacklist']] as const
  for (const [thing, list] of lists) {
    const add = async (phone_number: string) => (await call('POST', `/user/${thing}`, { phone_number })).body.data.id
    const first = await add('+14155550001')
    const second = await add('+493055500011')
    t.strictSame(idsIn(await get(`${list}?search=%2B1415`)), [first], list)
    t.strictSame(idsIn(await get(`${list}?search=4930`)), [second], list)
    t.strictSame(idsIn(await get(`${list}?search=930`)), [], list)
    t.strictSame(idsIn(await get(`${list}?search=1415&updated_from=2026-01-01`)), [first], list)
    t.strictSame(idsIn(await get(`${list}?updated_from=2999-12-31`)), [], list)
    t.strictSame(idsIn(await get(`${list}?search=1415`, '2')), [], list)
    t.match((await get(`${list}?search=x`)).body.errors.search, [/beginning of a phone number/])
    await call('DELETE', `/user/${thing}/${first}`)
    t.strictSame(idsIn(await get(`${list}?search=1415`)), [], list)
  }
})

t.test('an instant that a row shows includes the row, in date_to as in date_from', async (t) => {
  const { pool } = service.parts
  await pool.query("UPDATE read_model.calls SET ended_at = ended_at + interval '700 microseconds' WHERE id = 'of-nobody'")
  const { ended_at } = (await get('/user/call/of-nobody')).body.data
  const { body } = await get(`/user/calls?date_from=${ended_at}&date_to=${ended_at}`)
  t.match(body.data, [{ call_id: 'of-nobody' }, { call_id: 'of-contact' }, { call_id: 'of-lead' }])
})
