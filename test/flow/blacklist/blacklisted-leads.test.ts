// Numbers that must not be called, over HTTP: listed, asked for by engines, taken off.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { readScene } from '../../support/scenes/scenes.js'
import { eventually } from '../../support/eventually.js'
import type { Answer } from '../../support/running-service.js'

const scene = await readScene(t)
const { service, call, get, create, service: { parts: { pool, streams } }, createLead, complete, hook } = scene
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

t.test('each user has a list of their own; an entry is deleted under its ETag, and says what is wrong with its fields', async (t) => {
  const phone_number = newNumber()
  const id = await listNumber(phone_number)
  t.notMatch(JSON.stringify((await get('/user/blacklist', '2')).body), phone_number)
  t.equal((await list({ phone_number }, { user: '2' })).status, 201)
  t.equal((await unlist(id, { headers: { 'if-match': '"7"' } })).status, 412)
  t.equal((await unlist(id, { headers: { 'if-match': '"0"' } })).status, 200)
  t.equal((await unlist(id)).status, 404)
  t.same(Object.keys((await list({ phone_number: '5', reason: 'x'.repeat(256) })).body.errors).sort(), ['phone_number', 'reason'])
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

const statusOf = async (id: number) => (await get(`/user/lead/${id}`)).body.data.status
const onList = ['is on your do-not-call list']

t.test('no lead and no contact is created with a listed number, and every one is named', async (t) => {
  const [listed, other, free] = [newNumber(), newNumber(), newNumber()]
  await listNumber(listed)
  await listNumber(other)
  const lead = (phone_number: string, contacts: string[]) => call('POST', '/user/lead', {
    phone_number, campaign_id: 1, secondary_contacts: contacts.map((phone_number) => ({ phone_number }))
  })
  const refused = await lead(listed, [free, other])
  t.equal(refused.status, 422)
  t.strictSame(refused.body.errors, { phone_number: onList, 'secondary_contacts.1.phone_number': onList })
  t.strictSame((await lead(free, [listed])).body.errors, { 'secondary_contacts.0.phone_number': onList })
  const others = { user: '2' }
  const { body: { data: { id: campaign_id } } } = await call('POST', '/user/campaign', { name: 'Theirs' }, others)
  t.equal((await call('POST', '/user/lead', { phone_number: listed, campaign_id }, others)).status, 200)
  const { id } = await createLead(free)
  const put = await call('PUT', `/user/lead/${id}`, { secondary_contacts: [{ phone_number: other }] })
  t.strictSame([put.status, put.body.errors], [422, { 'secondary_contacts.0.phone_number': onList }])
})

t.test('leads that there are become blacklisted, and are again what they were', async (t) => {
  const [listed, other] = [newNumber(), newNumber()]
  const one = await createLead(listed, [other])
  const two = await createLead(other, [listed])
  const [contact] = two.secondary_contacts
  await call('PUT', `/user/lead/${one.id}`, { status: 'scheduled' })
  await call('PUT', `/user/lead/${two.id}`, {
    secondary_contacts: [{ id: contact.id, phone_number: listed, status: 'rescheduled' }]
  })
  const before = [(await get(`/user/lead/${one.id}`)).body.data, (await get(`/user/lead/${two.id}`)).body.data]
  const id = await listNumber(listed)
  t.match((await get(`/user/lead/${one.id}`)).body.data, { status: 'blacklisted', secondary_contacts: [{ status: 'created' }] })
  t.match((await get(`/user/lead/${contact.id}`)).body.data,
    { status: 'created', secondary_contacts: [{ status: 'blacklisted' }], contact_id: contact.id })
  const found = async (status: string) =>
    (await get(`/user/leads?status=${status}&phone_number=${listed.slice(1)}`)).body.data.map(({ id }: { id: number }) => id)
  t.strictSame([await found('blacklisted'), await found('scheduled')], [[one.id], []])
  t.equal((await unlist(id)).status, 200)
  t.strictSame([(await get(`/user/lead/${one.id}`)).body.data, (await get(`/user/lead/${two.id}`)).body.data], before)
  t.strictSame([await found('blacklisted'), await found('scheduled')], [[], [one.id]])
})

t.test('what changed since has leads by their contacts, the do-not-call list and the name of their campaign', async (t) => {
  const campaign_id = (await call('POST', '/user/campaign', { name: 'Old' })).body.data.id
  const lead = async (phone_number: string, contacts: string[] = []) => (await call('POST', '/user/lead', {
    phone_number, campaign_id, secondary_contacts: contacts.map((phone_number) => ({ phone_number }))
  })).body.data
  const [listed, other] = [newNumber(), newNumber()]
  const leads = [await lead(listed), await lead(newNumber(), [listed]), await lead(newNumber(), [other])]
  const [one, two, three] = leads.map(({ id }) => id)
  const assistant_id = await create()
  /** Also where so much changed that it is not looked up first. */
  const changedBy = async (change: () => Promise<Answer>) => {
    const from = new Date(Date.now() + 1).toISOString()
    await eventually(() => new Date().toISOString() > from)
    const { headers } = await change()
    const seen = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
    const found = async () =>
      (await call('GET', `/user/leads?campaign_id=${campaign_id}&updated_from=${from}`, undefined, seen)).body
        .data.map(({ id }: { id: number }) => id)
    const few = await found()
    await pool.query(`
      INSERT INTO read_model.blacklist (key, id, user_id, stream, is_deleted, updated_at)
      SELECT 'many-' || i, i, '1', 'many', true, '2999-12-31' FROM generate_series(1, 10001) i`)
    t.strictSame(await found(), few)
    await pool.query("DELETE FROM read_model.blacklist WHERE stream = 'many'")
    return few
  }
  t.strictSame(await changedBy(() => call('POST', '/user/blacklist', { phone_number: listed })), [two, one])
  const [{ id }] = (await get('/user/blacklist')).body.data
  t.strictSame(await changedBy(() => unlist(id)), [two, one])
  const lead_id = leads[2].secondary_contacts[0].id
  t.strictSame(await changedBy(() => complete('of-contact', { assistant_id, lead_id })), [three])
  t.strictSame(await changedBy(() => call('PUT', `/user/campaign/${campaign_id}`, { name: 'New' })), [three, two, one])
  t.strictSame(await changedBy(() => call('POST', '/user/blacklist', { phone_number: newNumber() })), [])
})

t.test('nobody with a listed number is given another status, and what was read can be sent back', async (t) => {
  const listed = newNumber()
  const lead = await createLead(newNumber(), [listed, newNumber()])
  const [contact, free] = lead.secondary_contacts
  const id = await listNumber(listed)
  const put = (body: object) => call('PUT', `/user/lead/${lead.id}`, body)
  const kept = { id: contact.id, phone_number: listed }
  const stays = ['must stay blacklisted while the phone number is on your do-not-call list']
  t.strictSame((await put({ secondary_contacts: [{ ...kept, status: 'created' }] })).body.errors,
    { 'secondary_contacts.0.status': stays })
  const read = (await get(`/user/lead/${lead.id}`)).body.data
  const again = await put({ variables: { plan: 'yearly' }, secondary_contacts: read.secondary_contacts })
  t.equal(again.status, 200)
  t.match(
    again.body.data.secondary_contacts, [{ id: contact.id, status: 'blacklisted' }, { id: free.id, status: 'created' }]
  )
  const own = await listNumber(lead.phone_number)
  t.strictSame((await put({ status: 'rescheduled' })).body.errors, { status: stays })
  t.match((await put({ status: 'blacklisted' })).body.data, { status: 'blacklisted' })
  await unlist(id)
  await unlist(own)
  t.match((await get(`/user/lead/${lead.id}`)).body.data, { status: 'created', secondary_contacts: [{ status: 'created' }, {}] })
})

t.test('a user’s own blacklisting of a lead outlives the entry', async (t) => {
  const { id, phone_number } = await createLead(newNumber())
  await call('PUT', `/user/lead/${id}`, { status: 'blacklisted' })
  await unlist(await listNumber(phone_number))
  t.equal(await statusOf(id), 'blacklisted')
})

t.test('reports of calls move nobody who is listed, webhooks say so, and count once the entry is gone', async (t) => {
  const [onLead, onContact] = [newNumber(), newNumber()]
  const assistant_id = await create({ is_webhook_active: true, webhook_url: `${hook.url}/listed` })
  const lead = await createLead(onLead, [onContact])
  const [contact] = lead.secondary_contacts
  const entries = [await listNumber(onLead), await listNumber(onContact)]
  await complete('listed-1', { assistant_id, lead_id: lead.id, lead_status: 'scheduled' })
  await complete('listed-2', { assistant_id, lead_id: contact.id })
  const sent = await eventually(async () => {
    const bodies = hook.received.map(({ body }) => JSON.parse(String(body)).data)
    const ours = bodies.filter(({ call_id }: { call_id: string }) => call_id.startsWith('listed-'))
    return ours.length === 2 && ours
  })
  for (const { lead: told } of sent) t.equal(told.status, 'blacklisted')
  t.match((await get(`/user/lead/${lead.id}`)).body.data, { status: 'blacklisted', secondary_contacts: [{ status: 'blacklisted' }] })
  for (const id of entries) await unlist(id)
  await eventually(async () => await statusOf(lead.id) === 'scheduled')
  t.match((await get(`/user/lead/${lead.id}`)).body.data, { secondary_contacts: [{ status: 'completed' }] })
})

t.test('a lead that was answered before is answered again as blacklisted', async (t) => {
  const number = newNumber()
  const headers = { 'idempotency-key': randomUUID() }
  const body = { phone_number: number, campaign_id: 1 }
  t.match((await call('POST', '/user/lead', body, { headers })).body.data, { status: 'created' })
  await list({ phone_number: number })
  const again = await call('POST', '/user/lead', body, { headers })
  t.match([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
  t.equal(again.body.data.status, 'blacklisted')
})

t.test('an entry by a process that dies with the append counts, and the lead of one that knew nothing of it', async (t) => {
  const number = newNumber()
  const first = await list({ phone_number: number })
  const stream = await streamOf(first.body.data.id)
  await call('DELETE', `/user/blacklist/${first.body.data.id}`)
  const lead = (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1 })).body.data
  t.equal(lead.status, 'created')
  await streams.append(stream, [{
    id: randomUUID(),
    type: 'PhoneNumberBlacklisted',
    data: {
      blacklist_id: 77_000, user_id: '1', phone_number: number, reason: null, created_at: new Date().toISOString()
    },
    metadata: { schema_version: '1' }
  }], 1n)
  t.equal(
    (await call('POST', '/user/lead', { phone_number: number, campaign_id: 1, allow_dupplicate: true })).status, 422
  )
  await eventually(async () => (await call('GET', `/user/lead/${lead.id}`)).body.data.status === 'blacklisted')
  t.equal((await call('DELETE', '/user/blacklist/77000')).status, 200)
})

async function streamOf (id: number): Promise<string> {
  const { rows: [row] } = await pool.query<{ stream: string }>('SELECT stream FROM read_model.blacklist WHERE id = $1', [id])
  return row?.stream ?? ''
}
