// Users create, change, read, call, delete, release and restore assistants, leads, campaigns and phone numbers over
// HTTP, and list numbers that must not be called.
import t from 'tap'
import { newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import type { Answer } from '../../support/running-service.js'
import { readScene } from '../../support/scenes/scenes.js'
import { randomUUID } from 'node:crypto'
import { importCatalog } from '../../../src/cli/catalog.js'
import { importingOn } from '../../support/commands/handle-on.js'

const { service, call, get, create, complete, hook, createLead } = await readScene(t)
const { pool, streams } = service.parts
const deleted = { message: 'Assistant deleted successfully' }
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

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
    ['POST', '/webhook-secret'], ['DELETE', '/webhook-secret'], ['GET', '/webhook-options'], ['PUT', '/webhook-options']
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

t.test('an assistant is read as it was at each of its revisions, and at no other', async (t) => {
  const id = await create({ speech_speed: 1.1 })
  const first = (await get(`/user/assistant/${id}`)).body.data
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk', status: 'inactive' })
  const at = (revision: unknown, user = '1') => get(`/user/assistant/${id}?revision=${revision}`, user)
  t.strictSame((await at(0)).body.data, first)
  t.match((await at(1)).body.data, { name: 'Night desk', status: 'active', revision: 1 })
  t.strictSame((await at(2)).body, (await get(`/user/assistant/${id}`)).body)
  t.equal((await at(0)).headers.get('etag'), '"0"')
  t.equal((await at(3)).status, 404)
  t.equal((await at(0, '2')).status, 404)
})

t.test('a restore brings back the settings of a revision, and the history shows it as an update', async (t) => {
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
  await call('DELETE', `/user/assistant/${id}`)
  const replayed = await call('POST', `/user/assistant/${id}/restore`, { revision: 0 }, keyed(`restore-${id}`))
  t.strictSame(replayed.body, restored.body, 'the answer under a key stays')
})

t.test('a phone number that was released is not restored: it is refused, or left out', async (t) => {
  const phone_number_id = (await call('POST', '/user/phone-number', { phone_number: '+15557770001' })).body.data.id
  const id = await create({ phone_number_id })
  const restore = (more = {}) => call('POST', `/user/assistant/${id}/restore`, { revision: 0, ...more })
  await call('DELETE', `/user/phone-number/${phone_number_id}`)
  t.match(await restore(), { status: 422, body: { errors: { phone_number_id: ['must be one of your phone numbers'] } } })
  t.equal((await restore({ without_phone_number: true })).status, 200)
  t.equal((await get(`/user/assistant/${id}`)).body.data.settings.phone_number_id, null)
})

const leadDeleted = { message: 'Lead deleted successfully' }
let numbers = 1000
const newNumber = () => `+1555900${numbers++}`

t.test('PUT and DELETE refuse an If-Match that no longer names what a GET shows', async (t) => {
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

t.test('a deleted lead is found nowhere, and its number may be created again', async (t) => {
  const number = newNumber()
  const lead = await createLead(number, [newNumber()])
  const again = await call('POST', '/user/lead', { phone_number: number, campaign_id: 1 })
  t.match(again.body.errors.phone_number, [/is already a lead of this campaign/])
  const gone = await call('DELETE', `/user/lead/${lead.id}`, undefined, keyed(`delete-${lead.id}`))
  t.equal(gone.status, 200)
  t.strictSame(gone.body, leadDeleted)
  for (const id of [lead.id, lead.secondary_contacts[0].id]) t.equal((await get(`/user/lead/${id}`)).status, 404)
  t.same((await get(`/user/leads?phone_number=${number}`)).body.data, [])
  t.equal((await call('PUT', `/user/lead/${lead.id}`, { status: 'created' })).status, 404)
  t.equal((await call('DELETE', `/user/lead/${lead.id}`)).status, 404)
  const anew = await createLead(number)
  t.not(anew.id, lead.id)
  t.match((await get(`/user/leads?phone_number=${number}`)).body.data, [{ id: anew.id }])
  const replayed = await call('DELETE', `/user/lead/${lead.id}`, undefined, keyed(`delete-${lead.id}`))
  t.match(replayed, { status: 200, body: leadDeleted }, 'the answer under a key stays')
  t.equal((await get(`/user/lead/${anew.id}`)).status, 200)
})

t.test('a lead is found by a secondary contact, and calls name the lead of one', async (t) => {
  const assistant_id = await create()
  const lead = await createLead(newNumber(), [newNumber()])
  const contact = lead.secondary_contacts[0].id
  t.same((await get(`/user/lead/${contact}`)).body, { data: { ...lead, contact_id: contact } })
  t.equal((await get(`/user/lead/${contact}`, '2')).status, 404)
  await complete('to-contact', { assistant_id, lead_id: contact })
  await complete('to-lead', { assistant_id, lead_id: lead.id })
  await eventually(async () => (await get('/user/call/to-lead')).status === 200)
  t.match((await get('/user/call/to-contact')).body.data, { lead_id: contact, lead: { id: contact, primary_lead_id: lead.id } })
  t.same((await get('/user/call/to-lead')).body.data.lead, { id: lead.id })
})

const createCampaign = async (name: string) => (await call('POST', '/user/campaign', { name })).body.data.id

t.test('a campaign is renamed at the revision that If-Match names; its leads show the name', async (t) => {
  const id = await createCampaign('Spring')
  const lead = (await call('POST', '/user/lead', { phone_number: '+15557770001', campaign_id: id })).body.data
  const at = (revision: number) => ({ headers: { 'if-match': `"${revision}"` } })
  t.equal((await call('PUT', `/user/campaign/${id}`, { name: 'Summer' }, at(7))).status, 412)
  const { status, body, headers } = await call('PUT', `/user/campaign/${id}`, { name: 'Summer' }, at(0))
  t.match(
    { status, body }, { status: 200, body: { message: 'Campaign updated successfully', data: { id, name: 'Summer' } } }
  )
  t.equal(headers.get('etag'), '"1"')
  t.equal((await get(`/user/campaign/${id}`)).headers.get('etag'), '"1"')
  const position = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  t.match((await call('GET', `/user/lead/${lead.id}`, undefined, position)).body.data.campaign, { id, name: 'Summer' })
  t.equal((await call('PUT', `/user/campaign/${id}`, { name: 'Mine' }, { user: '2' })).status, 404)
})

t.test('a deleted campaign is gone, takes no lead, and its leads keep its name', async (t) => {
  const id = await createCampaign('Farewell')
  const newLead = { phone_number: '+15557770002', campaign_id: id }
  const before = await call('POST', '/user/lead', newLead)
  t.equal((await call('DELETE', `/user/campaign/${id}`, undefined, { user: '2' })).status, 404)
  const deleted = await call('DELETE', `/user/campaign/${id}`, undefined, keyed('campaign-gone'))
  t.strictSame([deleted.status, deleted.body], [200, { message: 'Campaign deleted successfully' }])
  t.equal(deleted.headers.get('x-read-model'), null)
  for (const [method, sent] of [['GET', undefined], ['PUT', { name: 'Back' }], ['DELETE', undefined]] as const) {
    t.equal((await call(method, `/user/campaign/${id}`, sent)).status, 404, method)
  }
  const again = await call('DELETE', `/user/campaign/${id}`, undefined, keyed('campaign-gone'))
  t.strictSame([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
  const refused = await call('POST', '/user/lead', { ...newLead, phone_number: '+15557770003' })
  t.strictSame([refused.status, refused.body.errors], [422, { campaign_id: ['must be one of your campaigns'] }])
  const lead = (await get(`/user/lead/${before.body.data.id}`)).body.data
  t.match(lead.campaign, { id, name: 'Farewell' })
  t.match((await get(`/user/leads?campaign_id=${id}`)).body.data, [{ id: lead.id, campaign: { id, name: 'Farewell' } }])
  t.equal((await call('PUT', `/user/lead/${lead.id}`, { status: 'scheduled' })).status, 200)
})

t.test('an event of an unknown type in its stream changes nothing of an assistant or its ETag', async (t) => {
  const path = `/user/assistant/${await create()}`
  await streams.append(path.replace('/user/assistant/', 'assistant-'), [{ id: randomUUID(), type: 'AssistantArchived', data: {}, metadata: {} }], 0n)
  const put = (body: object) => call('PUT', path, body, { headers: { 'if-match': '"0"' } })
  t.match([(await get(path)).headers.get('etag'), (await put({})).status], ['"0"', 200])
  t.equal((await put({ record_call: true })).headers.get('etag'), '"2"')
  t.equal((await put({ record_call: false })).status, 412)
})

const add = (phone_number: unknown, options = {}) => call('POST', '/user/phone-number', { phone_number }, options)
const release = (id: number, options = {}) => call('DELETE', `/user/phone-number/${id}`, undefined, options)
const owned = async (user: string) => (await call('GET', '/user/phone-numbers', undefined, { user })).body.data
const taken = { message: 'The given data was invalid.', errors: { phone_number: ['is taken already'] } }

t.test('a released number is gone for its user, and another takes it and sees nothing of them', async (t) => {
  const phone_number = newNumber()
  const { id } = (await add(phone_number)).body.data
  t.equal((await release(id, { user: '2' })).status, 404)
  const first = await release(id, keyed('release-once'))
  t.strictSame([first.status, first.body], [200, { message: 'Phone number released successfully' }])
  const again = await release(id, keyed('release-once'))
  t.strictSame([again.status, again.body, again.headers.get('idempotent-replayed')], [200, first.body, 'true'])
  t.equal((await release(id)).status, 404)
  t.notMatch(JSON.stringify(await owned('1')), phone_number)
  const { status, body } = await add(phone_number, { user: '2' })
  t.equal(status, 201)
  t.not(body.data.id, id)
  t.match(await owned('2'), [body.data])
  t.equal((await release(id, keyed('release-once'))).status, 200)
  t.strictSame((await add(phone_number)).body, taken, 'a release that is answered again frees nothing of others')
})

t.test('an assistant whose number was released answers null, and has changed: its ETag, its time, what is new since', async (t) => {
  const { id: phone_number_id } = (await add(newNumber())).body.data
  const { id } = (await call('POST', '/user/assistant', newAssistant({ phone_number_id }))).body.data
  await call('PUT', `/user/assistant/${id}`, { speech_speed: 1.1 })
  const read = async (query = '') => (await call('GET', `/user/assistant/${id}${query}`)).body.data.settings.phone_number_id
  t.strictSame([await read(), await read('?revision=0')], [phone_number_id, phone_number_id])
  const before = await call('GET', `/user/assistant/${id}`)
  await eventually(() => new Date().toISOString() > before.body.data.updated_at)
  const { headers } = await release(phone_number_id)
  const seen = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  const after = await call('GET', `/user/assistant/${id}`, undefined, seen)
  t.strictSame([after.body.data.settings.phone_number_id, await read('?revision=0'), await read('?revision=1')], [null, null, null])
  t.strictSame([before.headers.get('etag'), after.headers.get('etag')?.replace(/[\w-]{27}/, '')], ['"1"', '"1."'])
  t.ok(after.body.data.updated_at > before.body.data.updated_at)
  t.match((await call('GET', `/user/assistants?updated_from=${after.body.data.updated_at}`)).body.data, [{ id }])

  const put = (body: object, etag: string | null = '*') =>
    call('PUT', `/user/assistant/${id}`, body, { headers: { 'if-match': etag ?? '' } })
  t.match((await put({ phone_number_id })).body.errors, { phone_number_id: ['must be one of your phone numbers'] })
  const none = { phone_number_id: null }
  t.strictSame([(await put(none, '"2.x"')).status, (await put(none, after.headers.get('etag'))).status], [412, 200])
  t.equal((await call('GET', `/user/assistant/${id}`)).headers.get('etag'), '"2"')
})

t.test('an import claims what it brings, takes nothing from others and brings back nothing', async (t) => {
  const [first, other] = [newNumber(), newNumber()]
  const importing = (user: number, id: number, phone_number: string) =>
    importCatalog(importingOn(streams), { users: [{ id: user, phone_numbers: [{ id, phone_number }] }] })
  await importing(1, 9_000, first)
  t.strictSame((await add(first, { user: '2' })).body, taken)
  await add(other, { user: '2' })
  for (const [user, id, number] of [[1, 9_001, other], [1, 9_000, newNumber()], [2, 9_000, first]] as const) {
    await t.rejects(importing(user, id, number), { code: 'catalog-conflict' })
  }
  const position = await importing(1, 9_000, first)
  t.equal(position, (await streams.last('phonenumber-9000'))?.position)
  await call('GET', '/user/phone-numbers', undefined, { headers: { 'x-read-position': String(position) } })
  t.equal((await release(9_000)).status, 200)
  await importing(1, 9_000, first)
  t.notMatch(JSON.stringify(await owned('1')), first)
  t.equal((await add(first, { user: '2' })).status, 201)
})

const list = (body: object, options = {}) => call('POST', '/user/blacklist', body, options)
const listNumber = async (phone_number: string) => (await list({ phone_number })).body.data.id
const unlist = (id: number, options = {}) => call('DELETE', `/user/blacklist/${id}`, undefined, options)

async function ask (phoneNumber: string, assistantId: number) {
  const headers = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
  return await call('GET', `/engine/blacklist/${encodeURIComponent(phoneNumber)}?assistant_id=${assistantId}`, undefined, { headers })
}

t.test('a retry of an entry answers as the first time, also after the number was listed again', async (t) => {
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
  t.match((await get('/user/blacklist')).body.data[0], anew.body.data, 'a deletion that is answered again deletes nothing')
})

t.test('each user has a list of their own; an entry is deleted under its ETag', async (t) => {
  const phone_number = newNumber()
  const id = await listNumber(phone_number)
  t.notMatch(JSON.stringify((await get('/user/blacklist', '2')).body), phone_number)
  t.equal((await list({ phone_number }, { user: '2' })).status, 201)
  t.equal((await unlist(id, { headers: { 'if-match': '"7"' } })).status, 412)
  t.equal((await unlist(id, { headers: { 'if-match': '"0"' } })).status, 200)
  t.equal((await unlist(id)).status, 404)
})

t.test('an engine asks whether the user of an assistant has listed a number', async (t) => {
  const phone_number = newNumber()
  const [own, others] = [await create(), await create({ phone_number_id: null }, '2')]
  const isListed = async (assistant: number) => (await ask(phone_number, assistant)).body
  t.strictSame(await isListed(own), { data: { blacklisted: false } })
  const id = await listNumber(phone_number)
  t.strictSame(await isListed(own), { data: { blacklisted: true } })
  t.strictSame(await isListed(others), { data: { blacklisted: false } })
  await unlist(id)
  t.strictSame(await isListed(own), { data: { blacklisted: false } })
  const { status, body } = await ask(phone_number, 999_999)
  t.strictSame([status, Object.keys(body.errors)], [422, ['assistant_id']])
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
  const others = { user: '2' }
  const { body: { data: { id: campaign_id } } } = await call('POST', '/user/campaign', { name: 'Theirs' }, others)
  t.equal((await call('POST', '/user/lead', { phone_number: listed, campaign_id }, others)).status, 200)
  const { id } = await createLead(free)
  const put = await call('PUT', `/user/lead/${id}`, { secondary_contacts: [{ phone_number: other }] })
  t.strictSame([put.status, put.body.errors], [422, { 'secondary_contacts.0.phone_number': onList }])
})

t.test('an entry makes existing leads blacklisted, and they get their status back with its end', async (t) => {
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

t.test('updated_from finds leads whose contacts, do-not-call entries or campaign names changed', async (t) => {
  const campaign_id = (await call('POST', '/user/campaign', { name: 'Old' })).body.data.id
  const lead = async (phone_number: string, contacts: string[] = []) => (await call('POST', '/user/lead', {
    phone_number, campaign_id, secondary_contacts: contacts.map((phone_number) => ({ phone_number }))
  })).body.data
  const [listed, other] = [newNumber(), newNumber()]
  const leads = [await lead(listed), await lead(newNumber(), [listed]), await lead(newNumber(), [other])]
  const [one, two, three] = leads.map(({ id }) => id)
  const assistant_id = await create()
  const changedBy = async (change: () => Promise<Answer>) => {
    const from = new Date(Date.now() + 1).toISOString()
    await eventually(() => new Date().toISOString() > from)
    const { headers } = await change()
    const seen = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
    const { body } = await call('GET', `/user/leads?campaign_id=${campaign_id}&updated_from=${from}`, undefined, seen)
    return body.data.map(({ id }: { id: number }) => id)
  }
  t.strictSame(await changedBy(() => call('POST', '/user/blacklist', { phone_number: listed })), [two, one])
  const [{ id }] = (await get('/user/blacklist')).body.data
  t.strictSame(await changedBy(() => unlist(id)), [two, one])
  const lead_id = leads[2].secondary_contacts[0].id
  t.strictSame(await changedBy(() => complete('of-contact', { assistant_id, lead_id })), [three])
  t.strictSame(await changedBy(() => call('PUT', `/user/campaign/${campaign_id}`, { name: 'New' })), [three, two, one])
  t.strictSame(await changedBy(() => call('POST', '/user/blacklist', { phone_number: newNumber() })), [])
})

t.test('a listed person keeps the status blacklisted, and a lead can be sent back as it was read', async (t) => {
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

t.test('a call of a listed person shows in their status only after the entry is gone; webhooks say blacklisted', async (t) => {
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

t.test('a retry of the creation of a lead answers blacklisted once its number is listed', async (t) => {
  const number = newNumber()
  const headers = { 'idempotency-key': randomUUID() }
  const body = { phone_number: number, campaign_id: 1 }
  t.match((await call('POST', '/user/lead', body, { headers })).body.data, { status: 'created' })
  await list({ phone_number: number })
  const again = await call('POST', '/user/lead', body, { headers })
  t.match([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
  t.equal(again.body.data.status, 'blacklisted')
})

t.test('an entry counts although its process died with the append, and a lead that was created meanwhile is blacklisted', async (t) => {
  const number = newNumber()
  const first = await list({ phone_number: number })
  const { rows: [{ stream }] } = await pool.query('SELECT stream FROM read_model.blacklist WHERE id = $1', [first.body.data.id])
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
