import t from 'tap'
import { callStatuses } from '../../../src/domain/call/events.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { uuidV5 } from '../../../src/event-store/event-id.js'
import { deliveryId } from '../../../workers/dispatch/delivery-id.js'
import { assistantCreated, assistantUpdated, callCompleted, campaign, leadCreated, logOf, settings } from '../../support/call-events.js'
import { deliveryRig, type Rig, type Row } from '../../support/delivery-rig.js'
import { scratchPostgres } from '../../support/scratch-postgres.js'

const url = 'https://hooks.example.com/calls'
const on = { is_webhook_active: true, webhook_url: url }
const postgres = await scratchPostgres(t)
const rig = (t: Tap) => deliveryRig(t, { postgres }, { works: false, enqueues: false })
type Tap = Parameters<typeof deliveryRig>[0]

async function only ({ deliveries }: Rig): Promise<Row & { data: Record<string, any> }> { // eslint-disable-line @typescript-eslint/no-explicit-any
  const [row, ...more] = await deliveries()
  if (!row || more.length > 0) throw new Error(`there are ${more.length + (row ? 1 : 0)} rows`)
  return { ...row, data: typeof row.body === 'string' ? JSON.parse(row.body).data : undefined }
}

t.test('a call of an assistant whose webhook is on is scheduled at once', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), callCompleted('c-1'))
  const row = await only(r)
  t.match(row, { call_id: 'c-1', type: 'call.completed', user_id: '1', assistant_id: '1', status: 'scheduled', reason: null, duplicates: 0, attempt_count: 0 })
  t.equal(row.id, deliveryId('c-1'))
  t.match(row.data, { call_id: 'c-1', assistant: { id: 1, name: 'Front desk' }, lead: null })
  t.equal((await r.pool.query('SELECT url FROM ledger.webhook_endpoints')).rows[0]?.url, url)
})

t.test('the webhook-id follows from the call alone', async (t) => {
  t.equal(deliveryId('c-1'), deliveryId('c-1'))
  t.not(deliveryId('c-1'), deliveryId('c-2'))
  t.match(deliveryId('c-1'), /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.not(deliveryId('c-1'), uuidV5('00000000-0000-0000-0000-000000000000', 'c-1:call.completed'))
})

t.test('each call that is not sent has its row with the reason', async (t) => {
  const r = await rig(t)
  const { status: _status, ...incomplete } = callCompleted('c-bad').data as Record<string, unknown>
  await r.tell(
    assistantCreated(1), assistantCreated(2, on), assistantCreated(3, { ...on, send_webhook_only_on_completed: false }),
    callCompleted('c-off'), callCompleted('c-failed', { assistant_id: 2, status: 'failed' }), callCompleted('c-busy', { assistant_id: 3, status: 'busy' }),
    callCompleted('c-nobody', { assistant_id: 9 }), { stream: 'call-c-bad', type: 'CallCompleted', data: incomplete })
  t.same((await r.deliveries()).map(({ call_id, status, reason, user_id }) => [call_id, status, reason, user_id]), [
    ['c-off', 'skipped', 'webhook_off', '1'],
    ['c-failed', 'skipped', 'not_completed', '1'],
    ['c-busy', 'scheduled', null, '1'],
    ['c-nobody', 'skipped', 'unknown_assistant', null],
    ['c-bad', 'skipped', 'invalid', null]
  ])
})

t.test('the settings at the place of the call in the log decide, within one batch and over several', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1), callCompleted('c-1'), assistantUpdated(1, { ...on, assistant_name: 'Desk two' }), callCompleted('c-2'))
  await r.tell(callCompleted('c-3'), assistantUpdated(1, { send_webhook_only_on_completed: false }), callCompleted('c-4', { status: 'failed' }))
  t.same((await r.deliveries()).map(({ call_id, status }) => [call_id, status]), [['c-1', 'skipped'], ['c-2', 'scheduled'], ['c-3', 'scheduled'], ['c-4', 'scheduled']])
  t.match((await r.deliveries())[1]?.body, /Desk two/)
})

t.test('later events of a call are counted, not sent; the first one stands', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), callCompleted('c-1'), callCompleted('c-1', { duration: 99 }))
  await r.tell(callCompleted('c-1'), callCompleted('c-1', { status: 'failed' }))
  const row = await only(r)
  t.match(row, { status: 'scheduled', duplicates: 3 })
  t.equal(row.data.duration, 60)
})

t.test('reading the log again changes nothing', async (t) => {
  const r = await rig(t)
  const events = logOf()([assistantCreated(1, on), campaign('CampaignCreated', 3, 'Spring'), leadCreated(7, 3), callCompleted('c-1', { lead_id: 7, lead_status: 'rescheduled' }), callCompleted('c-1'), assistantUpdated(1, { webhook_url: `${url}/2` })])
  await r.tellStored(events)
  const before = [await r.deliveries(), await tables(r)]
  await r.tellStored(events)
  for (const event of events) await r.tellStored([event])
  t.same([await r.deliveries(), await tables(r)], before)
})

const tables = async ({ pool }: Rig) => (await Promise.all(['dispatch_assistants', 'dispatch_leads', 'dispatch_campaigns', 'webhook_endpoints'].map((name) => pool.query(`SELECT * FROM ledger.${name} ORDER BY 1`)))).map(({ rows }) => rows)

t.test('the payload carries the lead as it stands after the call, with its campaign', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), campaign('CampaignCreated', 3, 'Spring'), leadCreated(7, 3, [8]), campaign('CampaignRenamed', 3, 'Summer'))
  await r.tell(callCompleted('c-1', { lead_id: 7 }))
  const { lead } = (await only(r)).data
  t.same(lead, { id: 7, phone_number: '+15551230001', variables: { zeta: 1, customer_name: 'Ada Example', email: 'ada@example.com' }, status: 'completed', campaign: { id: 3, name: 'Summer' } })
  t.same(Object.keys(lead.variables), ['zeta', 'customer_name', 'email'], 'in the order in which they were given')
})

t.test('the payload carries the secondary contact that was called, with its own number and variables', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), campaign('CampaignCreated', 3, 'Spring'), leadCreated(7, 3, [8]), callCompleted('c-1', { lead_id: 8, status: 'completed' }))
  t.strictSame((await only(r)).data.lead, { id: 8, phone_number: '+15551230002', variables: { customer_name: '', email: '' }, status: 'completed', campaign: { id: 3, name: 'Spring' } })
})

t.test('send_webhook_only_on_completed keeps back every other status, and without it every status is sent', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), assistantCreated(2, { ...on, send_webhook_only_on_completed: false }))
  await r.tell(...[1, 2].flatMap((assistant_id) => callStatuses.map((status) => callCompleted(`${assistant_id}-${status}`, { assistant_id, status }))))
  for (const { call_id, status, reason } of await r.deliveries()) {
    const isSent = call_id === '1-completed' || String(call_id).startsWith('2-')
    t.same([status, reason], isSent ? ['scheduled', null] : ['skipped', 'not_completed'], String(call_id))
  }
  t.equal((await r.deliveries()).length, 2 * callStatuses.length)
})

t.test('a call moves its lead or secondary contact, also when it is not sent, and a duplicate does not', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1), leadCreated(7, 3, [8, 9]))
  await r.tell(callCompleted('c-1', { lead_id: 7, status: 'busy', lead_status: 'rescheduled' }), callCompleted('c-2', { lead_id: 8 }), callCompleted('c-3', { lead_id: 9, status: 'failed' }))
  await r.tell(callCompleted('c-1', { lead_id: 7, lead_status: 'blacklisted' }))
  const { rows } = await r.pool.query('SELECT contact_id, status FROM ledger.dispatch_leads ORDER BY contact_id')
  t.same(rows.map(({ contact_id, status }) => [contact_id, status]), [['7', 'rescheduled'], ['8', 'completed'], ['9', 'created']])
})

t.test('an unknown lead and a lead of another user are sent as null and not moved', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), leadCreated(7, 3, [], 'another'), callCompleted('c-1', { lead_id: 7 }), callCompleted('c-2', { lead_id: 404 }))
  for (const row of await r.deliveries()) t.match(String(row.body), '"lead":null')
  t.equal((await r.pool.query('SELECT status FROM ledger.dispatch_leads')).rows[0]?.status, 'created')
})

t.test('a call in a version that only a later release knows is skipped, never read as an older one', async (t) => {
  const r = await rig(t)
  const versions = ['1', '2', 'next'].map((schema_version) => ({ ...callCompleted(`c-${schema_version}`), metadata: { schema_version } }))
  await r.tell(assistantCreated(1, on), callCompleted('c-0'), ...versions)
  t.same((await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason]), [
    ['c-0', 'scheduled', null], ['c-1', 'scheduled', null], ['c-2', 'skipped', 'invalid'], ['c-next', 'skipped', 'invalid']
  ])
  t.match(r.log.lines, [{ details: { problem: /schema_version 2 is not known/ } }, { details: { problem: /schema_version next is not known/ } }])
})

t.test('malformed, misplaced and unstorable events stall nothing and are kept for operators', async (t) => {
  const r = await rig(t)
  await r.tell(
    assistantCreated(1, on),
    { stream: 'assistant-2', type: 'AssistantCreated', data: { assistant_id: 2 } },
    { ...assistantUpdated(1, { webhook_url: 'https://thief.example/' }), stream: 'assistant-99' },
    { ...assistantCreated(3), stream: 'assistant-3', data: { assistant_id: 3, user_id: 'a\0b', settings: settings(), created_at: 'x' } },
    { stream: 'call-not ok', type: 'CallCompleted', data: {} },
    { ...callCompleted('c-1'), stream: 'call-c-2' },
    { stream: 'call-c-3', type: 'CallCompleted', data: new Uint8Array([1, 2]) },
    callCompleted('c-4', { transcript: [{ role: 'tool', text: 'nul \0 and \ud800', at: 0 }] }))
  t.same((await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason]), [
    ['c-2', 'skipped', 'invalid'], ['c-3', 'skipped', 'invalid'], ['c-4', 'scheduled', null]
  ])
  t.match((await r.deliveries())[2]?.body, 'nul \\u0000 and \\ud800')
  const { rows } = await r.pool.query('SELECT stream FROM ledger.parked_events WHERE consumer = \'dispatcher\' ORDER BY position')
  t.same(rows.map(({ stream }) => stream), ['assistant-2', 'assistant-99', 'assistant-3', 'call-not ok'])
  t.equal((await r.pool.query('SELECT url FROM ledger.webhook_endpoints')).rows[0]?.url, url)
})

t.test('pending deliveries follow their assistant to a new URL', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), callCompleted('c-1'))
  await r.tell(callCompleted('c-2'), assistantUpdated(1, { webhook_url: 'https://new.example/' }))
  const { rows } = await r.pool.query('SELECT call_id, url FROM ledger.webhook_deliveries d JOIN ledger.webhook_endpoints e ON e.id = endpoint_id ORDER BY call_id')
  t.same(rows.map((row) => Object.values(row)), [['c-1', 'https://new.example/'], ['c-2', 'https://new.example/']])
})

t.test('pending deliveries are held while the webhook is off, and scheduled when it is on again', async (t) => {
  const r = await rig(t)
  await r.tell(assistantCreated(1, on), assistantCreated(2, on), callCompleted('c-1'), callCompleted('c-2', { assistant_id: 2 }))
  await r.tell(assistantUpdated(1, { is_webhook_active: false }))
  t.same((await r.deliveries()).map(({ status, reason }) => [status, reason]), [['held', 'webhook_off'], ['scheduled', null]])
  await r.tell(assistantUpdated(1, { is_webhook_active: true }))
  t.same((await r.deliveries()).map(({ status, reason }) => [status, reason]), [['scheduled', null], ['scheduled', null]])
})

t.test('one URL in two spellings is one endpoint, another user\'s is another', async (t) => {
  const r = await rig(t)
  await r.tell(
    assistantCreated(1, { ...on, webhook_url: 'https://a.example' }), assistantCreated(2, { ...on, webhook_url: 'HTTPS://A.example:443/' }), assistantCreated(3, { ...on, webhook_url: 'https://a.example/' }, '2'),
    callCompleted('c-1'), callCompleted('c-2', { assistant_id: 2 }), callCompleted('c-3', { assistant_id: 3 }))
  t.same((await r.pool.query('SELECT user_id, url FROM ledger.webhook_endpoints ORDER BY 1')).rows.map((row) => Object.values(row)), [['1', 'https://a.example/'], ['2', 'https://a.example/']])
})

t.test('a batch of large bodies is written in pieces, every row once', async (t) => {
  const r = await rig(t)
  const turns = [{ role: 'tool' as const, text: 'x'.repeat(120_000), at: 0 }]
  const calls: StoredEvent[] = logOf()([assistantCreated(1, on), ...Array.from({ length: 100 }, (_, n) => callCompleted(`c-${n}`, { transcript: turns }))])
  await r.tellStored(calls)
  t.equal((await r.deliveries()).length, 100)
})

t.test('up to the marker of a database that was lost, a call is recorded with its body and not sent', async (t) => {
  const r = await rig(t)
  await r.pool.query('UPDATE ledger.this_database SET skip_until = 400')
  await r.tell(assistantCreated(1, on), assistantCreated(2), callCompleted('c-1'))
  await r.tell(callCompleted('c-2', { assistant_id: 2 }), callCompleted('c-3'))
  const rows = await r.deliveries()
  t.same(rows.map(({ call_id, status, reason, next_attempt_at }) => [call_id, status, reason, next_attempt_at !== null]), [
    ['c-1', 'skipped', 'restored', false],
    ['c-2', 'skipped', 'webhook_off', false],
    ['c-3', 'scheduled', null, true]
  ])
  t.match(rows[0], { body: /"c-1"/, endpoint_id: /\d/ }, 'an operator can send it still')
})

t.test('a log that is read again from its beginning, at other positions, holds nothing, counts nothing and is known at its end', async (t) => {
  const r = await rig(t)
  const events = [assistantCreated(1, on), callCompleted('c-1'), assistantUpdated(1, { is_webhook_active: false }), assistantUpdated(1, { is_webhook_active: true })]
  await r.tell(...events, callCompleted('c-2'))
  const before = await r.deliveries()
  await r.pool.query('UPDATE ledger.this_database SET reread_until = 1000')
  await r.pool.query('TRUNCATE ledger.dispatch_assistants')
  const elsewhere = logOf()(events).map((event) => ({ ...event, position: event.position + 100n }))
  for (const event of elsewhere) await r.tellStored([event])
  t.same(await r.deliveries(), before)
  t.match((await tables(r))[0], [{ revision: '2', settings: { is_webhook_active: true } }])
})
