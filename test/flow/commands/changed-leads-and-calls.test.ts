// Leads that their users changed, and the calls to them: statuses, webhooks, secondary contacts.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { readScene } from '../../support/http/read-scene.js'

const { call, get, create, createLead, complete, hook } = await readScene(t)
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
let numbers = 1000
const newNumber = () => `+1555900${numbers++}`

t.test('reports move a status that its user set, but for blacklisted, which only the user ends', async (t) => {
  const [assistant_id, lead] = [await create(), await createLead(newNumber())]
  const report = async (callId: string, lead_status?: string) => {
    await complete(callId, { assistant_id, lead_id: lead.id, lead_status })
    await eventually(async () => (await get(`/user/call/${callId}`)).status === 200)
  }
  const statusIs = (status: string) =>
    eventually(async () => (await get(`/user/lead/${lead.id}`)).body.data.status === status)
  await call('PUT', `/user/lead/${lead.id}`, { status: 'scheduled' })
  await report('moves', 'processing')
  await statusIs('processing')
  await call('PUT', `/user/lead/${lead.id}`, { status: 'blacklisted' })
  await report('moves-nothing', 'completed')
  t.equal((await get(`/user/lead/${lead.id}`)).body.data.status, 'blacklisted')
  await call('PUT', `/user/lead/${lead.id}`, { status: 'created' })
  await report('moves-again', 'completed')
  await statusIs('completed')
})

t.test('an update keeps what calls made of a lead, also when it is answered again', async (t) => {
  const [assistant_id, lead] = [await create(), await createLead(newNumber())]
  await complete('before-update', { assistant_id, lead_id: lead.id })
  await eventually(async () => (await get(`/user/lead/${lead.id}`)).body.data.status === 'completed')
  const put = () => call('PUT', `/user/lead/${lead.id}`, { variables: { a: 1 } }, keyed(`put-${lead.id}`))
  const first = await put()
  t.match(first.body.data, { status: 'completed', variables: { a: 1 } })
  const again = await put()
  t.same(again.body, first.body)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
})

t.test('a lead is found by a secondary contact, and calls and webhooks name the lead of one', async (t) => {
  const assistant_id = await create({ is_webhook_active: true, webhook_url: hook.url })
  const lead = await createLead(newNumber(), [newNumber()])
  const contact = lead.secondary_contacts[0].id
  t.same((await get(`/user/lead/${contact}`)).body, { data: { ...lead, contact_id: contact } })
  t.equal((await get(`/user/lead/${contact}`, '2')).status, 404)
  const received = hook.received.length
  await complete('to-contact', { assistant_id, lead_id: contact })
  await complete('to-lead', { assistant_id, lead_id: lead.id })
  await eventually(() => hook.received.length === received + 2)
  const bodies = hook.received.slice(received).map(({ body }) => JSON.parse(String(body)).data)
  const leadIn = (callId: string) => bodies.find(({ call_id }) => call_id === callId).lead
  t.match(leadIn('to-contact'), { id: contact, primary_lead_id: lead.id })
  t.notOk('primary_lead_id' in leadIn('to-lead'))
  await eventually(async () => (await get('/user/call/to-lead')).status === 200)
  t.match((await get('/user/call/to-contact')).body.data, { lead_id: contact, lead: { id: contact, primary_lead_id: lead.id } })
  t.same((await get('/user/call/to-lead')).body.data.lead, { id: lead.id })
})

t.test('a webhook says what the user made of the lead before the call', async (t) => {
  const assistant_id = await create({ is_webhook_active: true, webhook_url: hook.url })
  const lead = await createLead(newNumber())
  const added = newNumber()
  const { data } = (await call('PUT', `/user/lead/${lead.id}`, {
    variables: { plan: 'new' }, status: 'blacklisted', secondary_contacts: [{ phone_number: added, variables: { x: 1 } }]
  })).body
  const received = hook.received.length
  await complete('changed-lead', { assistant_id, lead_id: lead.id })
  await complete('new-contact', { assistant_id, lead_id: data.secondary_contacts[0].id })
  await eventually(() => hook.received.length === received + 2)
  const leads = hook.received.slice(received).map(({ body }) => JSON.parse(String(body)).data)
  t.match(
    leads.find(({ call_id }) => call_id === 'changed-lead').lead, { status: 'blacklisted', variables: { plan: 'new' } }
  )
  t.match(leads.find(({ call_id }) => call_id === 'new-contact').lead, { phone_number: added, primary_lead_id: lead.id, variables: { x: 1 } })
})

t.test('a call to a lead that was deleted meanwhile is recorded', async (t) => {
  const [assistant_id, lead] = [await create(), await createLead(newNumber())]
  await call('DELETE', `/user/lead/${lead.id}`)
  t.equal((await complete('to-deleted', { assistant_id, lead_id: lead.id })).status, 202)
  await eventually(async () => (await get('/user/call/to-deleted')).status === 200)
  t.match((await get('/user/call/to-deleted')).body.data, { lead_id: lead.id })
  t.equal((await get(`/user/lead/${lead.id}`)).status, 404)
})
