// Leads over HTTP: changed, deleted and created anew.
import t from 'tap'
import { readScene } from '../../support/http/read-scene.js'

const { call, get, createLead } = await readScene(t)
const deleted = { message: 'Lead deleted successfully' }
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
let numbers = 1000
const newNumber = () => `+1555900${numbers++}`
const none = { customer_name: '', email: '' }
const duplicate = /is already a lead of this campaign/

t.test('PUT changes what is given and answers the lead as it is then read', async (t) => {
  const lead = await createLead(newNumber(), [newNumber(), newNumber()])
  const [first, second] = lead.secondary_contacts
  const added = newNumber()
  const changed = await call('PUT', `/user/lead/${lead.id}`, {
    variables: { plan: 'yearly' },
    secondary_contacts: [{ phone_number: added }, { id: second.id, phone_number: second.phone_number, status: 'blacklisted' }],
    status: 'rescheduled',
    nickname: 'x'
  })
  t.equal(changed.status, 200)
  t.equal(changed.body.message, 'Lead updated successfully')
  t.equal(changed.headers.get('x-ignored-fields'), 'nickname')
  t.equal(changed.headers.get('x-read-model'), null)
  const { data } = changed.body
  t.same(Object.keys(data).sort(), Object.keys(lead).sort())
  t.match(data, { id: lead.id, status: 'rescheduled', variables: { ...none, plan: 'yearly' } })
  t.match(data.secondary_contacts, [
    { phone_number: added, status: 'created', variables: none }, { id: second.id, status: 'blacklisted', variables: none }
  ])
  t.notOk([lead.id, first.id, second.id].includes(data.secondary_contacts[0].id))
  t.same((await get(`/user/lead/${lead.id}`)).body.data, data)
  t.same((await get(`/user/leads?phone_number=${lead.phone_number}`)).body.data, [data])
  t.equal((await get(`/user/lead/${first.id}`)).status, 404, 'a contact that it does not have any more')
})

t.test('PUT and DELETE refuse an If-Match of what is not shown any more, whatever changed it', async (t) => {
  const number = newNumber()
  const posted = await call('POST', '/user/lead', { phone_number: number, campaign_id: 1, variables: { plan: 'monthly' } })
  const path = `/user/lead/${posted.body.data.id}`
  const tagOf = async () => (await get(path)).headers.get('etag') ?? 'none'
  const put = (body: object, tag: string) => call('PUT', path, body, { headers: { 'if-match': tag } })
  const first = await tagOf()
  t.match(first, /^"[\w-]{27}"$/)
  t.equal(posted.headers.get('etag'), first)
  const updated = await put({ variables: { plan: 'yearly' } }, first)
  t.equal(updated.status, 200)
  t.equal(updated.headers.get('etag'), await tagOf())
  const stale = await put({ variables: { plan: 'weekly' } }, first)
  t.match(stale, { status: 412, body: { message: /changed in the meantime/ } })
  t.match((await get(path)).body.data.variables, { plan: 'yearly' }, 'nothing was done')

  const second = await tagOf()
  await call('POST', '/user/blacklist', { phone_number: number })
  t.equal((await put({ variables: { plan: 'weekly' } }, second)).status, 412, 'it is blacklisted now')
  t.equal((await put({ variables: { plan: 'weekly' } }, `"0", ${await tagOf()}`)).status, 200)
  t.equal((await call('DELETE', path, undefined, { headers: { 'if-match': second } })).status, 412)
  t.equal((await call('DELETE', path, undefined, { headers: { 'if-match': await tagOf() } })).status, 200)
  t.equal((await call('DELETE', path, undefined, { headers: { 'if-match': '*' } })).status, 404)
})

t.test('an update that changes nothing appends nothing, and what was read can be sent back', async (t) => {
  const lead = await createLead(newNumber(), [newNumber()])
  const { created_at, updated_at, id, campaign, ...body } = lead
  const again = await call('PUT', `/user/lead/${id}`, { ...body, secondary_contacts: lead.secondary_contacts })
  t.equal(again.status, 200)
  t.same(again.body.data, lead)
  const once = await call('PUT', `/user/lead/${id}`, { status: 'scheduled' })
  const twice = await call('PUT', `/user/lead/${id}`, { status: 'scheduled' })
  t.equal(twice.headers.get('x-read-position'), once.headers.get('x-read-position'))
})

t.test('number and campaign stay, and every field that is wrong is named', async (t) => {
  const lead = await createLead(newNumber())
  const put = async (body: object) => (await call('PUT', `/user/lead/${lead.id}`, body))
  const fields = async (body: object) => Object.keys((await put(body)).body.errors ?? {}).sort()
  t.same(await fields({ phone_number: newNumber(), campaign_id: 2 }), ['campaign_id', 'phone_number'])
  t.equal((await put({ phone_number: lead.phone_number, campaign_id: lead.campaign_id })).status, 200)
  for (const status of ['processing', 'deleted', null]) t.same(await fields({ status }), ['status'])
  t.same(
    await fields({ secondary_contacts: [{ id: lead.id, phone_number: newNumber() }] }), ['secondary_contacts.0.id']
  )
  t.same(await fields({ secondary_contacts: [{ phone_number: 'x' }], variables: null }), ['secondary_contacts.0.phone_number', 'variables'])
})

t.test('a text that is not a phone number is refused for that alone', async (t) => {
  const { id } = await createLead(newNumber())
  const { body } = await call('PUT', `/user/lead/${id}`, { phone_number: '555' })
  t.match(body.errors, { phone_number: [/E\.164/] })
  t.equal(body.errors.phone_number.length, 1)
})

t.test('a deleted lead is found nowhere, and its number may be created again', async (t) => {
  const number = newNumber()
  const lead = await createLead(number, [newNumber()])
  t.match(
    (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1 })).body.errors.phone_number, [duplicate]
  )
  const gone = await call('DELETE', `/user/lead/${lead.id}`, undefined, keyed(`delete-${lead.id}`))
  t.equal(gone.status, 200)
  t.strictSame(gone.body, deleted)
  for (const id of [lead.id, lead.secondary_contacts[0].id]) t.equal((await get(`/user/lead/${id}`)).status, 404)
  t.same((await get(`/user/leads?phone_number=${number}`)).body.data, [])
  t.equal((await call('PUT', `/user/lead/${lead.id}`, { status: 'created' })).status, 404)
  t.equal((await call('DELETE', `/user/lead/${lead.id}`)).status, 404)
  const anew = await createLead(number)
  t.not(anew.id, lead.id)
  t.match(
    (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1 })).body.errors.phone_number, [duplicate]
  )
  t.match((await get(`/user/leads?phone_number=${number}`)).body.data, [{ id: anew.id }])
  const again = await call('DELETE', `/user/lead/${lead.id}`, undefined, keyed(`delete-${lead.id}`))
  t.match(again, { status: 200, body: deleted }, 'the answer under a key stays')
  t.equal((await get(`/user/lead/${anew.id}`)).status, 200)
})

t.test('of two leads with one number each is changed and deleted by itself', async (t) => {
  const number = newNumber()
  const one = await createLead(number)
  const other = (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1, allow_dupplicate: true })).body.data
  await call('PUT', `/user/lead/${one.id}`, { variables: { which: 'one' } })
  await call('DELETE', `/user/lead/${other.id}`)
  t.match((await get(`/user/lead/${one.id}`)).body.data, { variables: { which: 'one' } })
  t.match(
    (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1 })).body.errors.phone_number, [duplicate]
  )
})
