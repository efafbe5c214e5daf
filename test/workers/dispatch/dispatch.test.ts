// What becomes of a call: a delivery, or a row with the reason why there is none; what the dispatcher remembers of
// assistants, leads, campaigns and the do-not-call list, also in a database that was restored; and what it has parked.
import t from 'tap'
import { countParkedStreams, parkedStreams } from '../../../projections/engine/parked.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { callStatuses } from '../../../src/features/calls/events.js'
import { retryParked, skipParked } from '../../../src/ops/parked.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { buildSkippedBodies } from '../../../workers/operate/skipped-bodies.js'
import {
  assistantCreated, assistantUpdated, callCompleted, settings, campaign, leadCreated, leadDeleted, leadStatusChanged,
  leadUpdated, logOf, type Told
} from '../../support/events/call-events.js'
import { dispatchRig, type Rig } from '../../support/workers/delivery-rig.js'
import { ruleRig } from '../../support/workers/sender-rig.js'
import { listed, unlisted, url, webhookOn } from './dispatching.js'

const { begin } = await ruleRig(t)

t.test('the settings at the place of the call in the log decide, within one batch and over several', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1),
    callCompleted('c-1'),
    assistantUpdated(1, { ...webhookOn, assistant_name: 'Desk two' }),
    callCompleted('c-2')
  )
  await r.tell(
    callCompleted('c-3'),
    assistantUpdated(1, { send_webhook_only_on_completed: false }),
    callCompleted('c-4', { status: 'failed' })
  )
  t.same((await r.deliveries()).map(({ call_id, status }) => [call_id, status]), [
    ['c-1', 'skipped'], ['c-2', 'scheduled'], ['c-3', 'scheduled'], ['c-4', 'scheduled']
  ])
  t.match((await r.deliveries())[1]?.body, /Desk two/)
})

t.test('send_webhook_only_on_completed keeps back other statuses; without it every status is sent', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1, webhookOn), assistantCreated(2, { ...webhookOn, send_webhook_only_on_completed: false })
  )
  await r.tell(...[1, 2].flatMap((assistant_id) =>
    callStatuses.map((status) => callCompleted(`${assistant_id}-${status}`, { assistant_id, status }))))
  for (const { call_id, status, reason } of await r.deliveries()) {
    const isSent = call_id === '1-completed' || String(call_id).startsWith('2-')
    t.same([status, reason], isSent ? ['scheduled', null] : ['skipped', 'not_completed'], String(call_id))
  }
  t.equal((await r.deliveries()).length, 2 * callStatuses.length)
})

t.test('malformed, misplaced and unstorable events stop nothing and are kept for operators', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1, webhookOn),
    { stream: 'assistant-2', type: 'AssistantCreated', data: { assistant_id: 2 } },
    { ...assistantUpdated(1, { webhook_url: 'https://thief.example/' }), stream: 'assistant-99' },
    {
      ...assistantCreated(3),
      stream: 'assistant-3',
      data: { assistant_id: 3, user_id: 'a\0b', settings: settings(), created_at: 'x' }
    },
    { stream: 'call-not ok', type: 'CallCompleted', data: {} },
    { ...callCompleted('c-1'), stream: 'call-c-2' },
    callCompleted('c-4', { transcript: [{ role: 'tool', text: 'nul \0 and \ud800', at: 0 }] })
  )
  t.same((await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason]), [
    ['c-2', 'skipped', 'invalid'], ['c-4', 'scheduled', null]
  ])
  t.match((await r.deliveries())[1]?.body, 'nul \\u0000 and \\ud800')
  const { rows } = await r.pool.query(`
    SELECT stream FROM ledger.parked_events WHERE consumer = 'dispatcher' ORDER BY position`)
  t.same(rows.map(({ stream }) => stream), ['assistant-2', 'assistant-99', 'assistant-3', 'call-not ok'])
  t.equal((await r.hook()).url, url)
})

t.test('a batch of large bodies is written in pieces, every row once', async (t) => {
  const r = await dispatchRig(t, await begin())
  const turns = [{ role: 'tool' as const, text: 'x'.repeat(120_000), at: 0 }]
  const calls = Array.from({ length: 100 }, (_, n) => callCompleted(`c-${n}`, { transcript: turns }))
  await r.tell(assistantCreated(1, webhookOn), ...calls)
  t.equal((await r.deliveries()).length, 100)
})

t.test('the payload carries the lead or contact as it stands after the call, with its campaign', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1, webhookOn), campaign('CampaignCreated', 3, 'Spring'), leadCreated(7, 3, [8]),
    campaign('CampaignRenamed', 3, 'Summer')
  )
  await r.tell(callCompleted('c-1', { lead_id: 7 }), callCompleted('c-2', { lead_id: 8 }))
  const [lead, contact] = (await r.deliveries()).map(({ body }) => JSON.parse(String(body)).data.lead)
  const of = { status: 'completed', campaign: { id: 3, name: 'Summer' } }
  const variables = { zeta: 1, customer_name: 'Ada Example', email: 'ada@example.com' }
  t.same(lead, { id: 7, phone_number: '+15551230001', variables, ...of })
  t.same(Object.keys(lead.variables), ['zeta', 'customer_name', 'email'], 'in the order in which they were given')
  t.same(contact, { id: 8, primary_lead_id: 7, phone_number: '+15551230002', variables: { customer_name: '', email: '' }, ...of })
})

t.test('a log that is read again, at other positions, holds and counts nothing, and is known at its end', async (t) => {
  const r = await dispatchRig(t, await begin())
  const events = [
    assistantCreated(1, webhookOn), callCompleted('c-1'), assistantUpdated(1, { is_webhook_active: false }),
    assistantUpdated(1, { is_webhook_active: true })
  ]
  await r.tell(...events, callCompleted('c-2'))
  const before = await r.deliveries()
  await r.pool.query('UPDATE ledger.this_database SET reread_until = 1000')
  await r.pool.query('TRUNCATE ledger.dispatch_assistants; UPDATE ledger.dispatcher_checkpoint SET position = 0')
  const elsewhere = logOf()(events).map((event) => ({ ...event, position: event.position + 100n }))
  for (const event of elsewhere) await r.tellStored([event])
  t.same(await r.deliveries(), before)
  t.match(await r.rows('dispatch_assistants'), [{ revision: '2', settings: { is_webhook_active: true } }])
})

t.test('up to the marker of a database that was lost, a call is recorded with its body and not sent', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.pool.query('UPDATE ledger.this_database SET skip_until = 400')
  await r.tell(assistantCreated(1, webhookOn), assistantCreated(2), callCompleted('c-1'))
  await r.tell(callCompleted('c-2', { assistant_id: 2 }), callCompleted('c-3'))
  const rows = await r.deliveries()
  const outcomes = rows.map((row) => [row.call_id, row.status, row.reason, row.due_at !== null])
  t.same(outcomes, [
    ['c-1', 'skipped', 'restored', false], ['c-2', 'skipped', 'webhook_off', false], ['c-3', 'scheduled', null, true]
  ])
  t.match(rows[0], { body: /"c-1"/ }, 'an operator can send it still')
})

t.test('a blacklisted lead stays so, and a report of an older call or a duplicate moves nothing, in this batch or a later one', async (t) => {
  const r = await dispatchRig(t, await begin())
  const ended = (minute: number) => ({ ended_at: `2026-01-31T12:0${minute}:00.000Z` })
  await r.tell(assistantCreated(1, webhookOn), leadCreated(7, 3, [8]))
  await r.tell(
    callCompleted('c-1', { lead_id: 7, lead_status: 'blacklisted', ...ended(5) }),
    callCompleted('c-2', { lead_id: 8, lead_status: 'rescheduled', ...ended(5) }),
    callCompleted('c-3', { lead_id: 8, lead_status: 'processing', ...ended(4) })
  )
  await r.tell(
    callCompleted('c-4', { lead_id: 7, lead_status: 'scheduled', ...ended(6) }),
    callCompleted('c-5', { lead_id: 8, ...ended(4) }),
    callCompleted('c-2', { lead_id: 8, lead_status: 'processing', ...ended(9) })
  )
  await r.tell(callCompleted('c-6', { lead_id: 8, ...ended(5) }))
  t.same(await told(r), [
    ['c-1', 'blacklisted'], ['c-2', 'rescheduled'], ['c-3', 'rescheduled'], ['c-4', 'blacklisted'],
    ['c-5', 'rescheduled'], ['c-6', 'completed']
  ])
})

t.test('a change of a lead and its contacts counts from its place in the log on, also after a deletion', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1, webhookOn), leadCreated(7, 3, [8]),
    leadStatusChanged(7, 3, 'blacklisted'), leadStatusChanged(7, 3, 'scheduled', 8), leadUpdated(7, 3, [9, 8], [])
  )
  const leadIn = async (place: number) => JSON.parse(String((await r.deliveries())[place]?.body)).data.lead
  const known = () => r.pool.query(`
    SELECT id::int, primary_id::int, status, variables->>'customer_name' AS name, revision::int
    FROM ledger.dispatch_leads ORDER BY 1`)
  const wanted = [
    { id: 7, primary_id: null, status: 'blacklisted', name: 'Changed', revision: 3 },
    { id: 8, primary_id: 7, status: 'scheduled', name: '', revision: 3 },
    { id: 9, primary_id: 7, status: 'created', name: '', revision: 3 }
  ]
  t.same((await known()).rows, wanted)
  await r.tell(callCompleted('c-1', { lead_id: 9 }))
  t.match(await leadIn(0), { id: 9, primary_lead_id: 7, status: 'completed' })
  await r.tell(leadDeleted(7, 3), callCompleted('c-2', { lead_id: 8 }))
  t.match(await leadIn(1), { id: 8, primary_lead_id: 7, status: 'completed' })
})

const [ofLead, ofContact] = ['+15551230001', '+15551230002'] // as leadCreated gives them

/** The status of the lead that each webhook says, by call. */
async function told (r: Awaited<ReturnType<typeof dispatchRig>>) {
  const { rows } = await r.pool.query<{ call_id: string, body: string }>(
    'SELECT call_id, body FROM ledger.webhook_deliveries ORDER BY call_id')
  return rows.map(({ call_id, body }) => [call_id, JSON.parse(body).data.lead.status])
}

t.test('from the entry on they are blacklisted, and after it what calls made of them meanwhile', async (t) => {
  const r = await dispatchRig(t, await begin())
  const callOf = (id: string, status: 'scheduled' | 'rescheduled') => callCompleted(id, { lead_id: 7, lead_status: status })
  const callOfContact = (id: string) => callCompleted(id, { lead_id: 8 })
  await r.tell(assistantCreated(1, webhookOn), leadCreated(7, 3, [8]), callOf('c-1', 'scheduled'))
  await r.tell(listed(ofLead), callOf('c-2', 'rescheduled'), callOfContact('c-3'))
  await r.tell(callOf('c-4', 'rescheduled'), listed(ofContact), callOfContact('c-5'))
  const stored = await r.tell(unlisted(ofLead), callOf('c-6', 'rescheduled'), callOfContact('c-7'))
  t.same(await told(r), [
    ['c-1', 'scheduled'], ['c-2', 'blacklisted'], ['c-3', 'completed'], ['c-4', 'blacklisted'], ['c-5', 'blacklisted'],
    ['c-6', 'rescheduled'], ['c-7', 'blacklisted']
  ])
  const bodyOf = async () => (await r.rows('webhook_deliveries', "call_id = 'c-7'"))[0]?.body
  const body = await bodyOf()
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'skipped', body = NULL WHERE call_id = 'c-7'")
  await inTransaction(r.pool, (tx) => buildSkippedBodies(tx, { read: async () => stored.slice(-1) }, ['c-7']))
  t.same(await bodyOf(), body, 'a body of what was skipped is as any other')
})

t.test('also where the entry was there before the lead, and for its user alone', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(assistantCreated(1, webhookOn), listed(ofLead), listed(ofContact, 2, 'another'))
  await r.tell(leadCreated(7, 3, [8]), callCompleted('c-1', { lead_id: 7 }), callCompleted('c-2', { lead_id: 8 }))
  t.same(await told(r), [['c-1', 'blacklisted'], ['c-2', 'completed']])
})

/** As if the dispatcher had come to the end. */
const passAll = ({ pool }: Pick<Rig, 'pool'>) => pool.query('UPDATE ledger.dispatcher_checkpoint SET position = 1000000')
const later = (told: Told): Told => ({ ...told, metadata: { schema_version: '9' } })

/** A log of these events; `isReadable`: for a release that reads more. */
function logOver (stored: StoredEvent[], isReadable = false) {
  const read = async (stream: string, from = 0n) => stored
    .filter((each) => each.stream === stream && each.revision >= from)
    .map((each) => isReadable && each.metadata.schema_version === '9' ? { ...each, metadata: { schema_version: '2' } } : each)
  const visit = async (stream: string, from: bigint, take: (event: StoredEvent) => void) => {
    for (const event of await read(stream, from)) take(event)
    return true
  }
  return { read, visit }
}

t.test('a retry makes known what a stream says, also what came after, or leaves all of it', async (t) => {
  const r = await dispatchRig(t, await begin())
  await passAll(r)
  const stored = await r.tell(later(assistantCreated(1)), assistantUpdated(1, webhookOn), callCompleted('early'))
  const { pool } = r
  const retry = (isReadable: boolean) =>
    retryParked({ pool, streams: logOver(stored, isReadable) }, 'dispatcher', 'assistant-1')
  t.match(await parkedStreams(pool, ['dispatcher']), [
    { projection: 'dispatcher', generation: null, stream: 'assistant-1', events: 2, revision: '0', error: /schema_version 9/ }
  ])
  await t.rejects(retry(false), /stays parked, .* schema_version 9/)
  t.match(await retry(true), /^The dispatcher has read 2 events /)
  t.strictSame(await countParkedStreams(pool), [])
  await t.rejects(retry(true), /has not parked assistant-1:/)
  await r.tell(callCompleted('late'))
  t.same((await r.deliveries()).map(({ call_id, status }) => [call_id, status]), [['early', 'skipped'], ['late', 'scheduled']])
})

t.test('a call whose lead came later is read again without another delivery; one whose lead never comes is given up', async (t) => {
  const r = await dispatchRig(t, await begin())
  await passAll(r)
  const { pool } = r
  const stored = [
    ...await r.tell(assistantCreated(1, webhookOn), callCompleted('soon', { lead_id: 7 }), callCompleted('never', { lead_id: 8 })),
    ...await r.tell(leadCreated(7, 3))
  ]
  const streams = logOver(stored)
  t.match(await retryParked({ pool, streams }, 'dispatcher', 'call-soon'), / 1 events of call-soon again; none /)
  await t.rejects(retryParked({ pool, streams }, 'dispatcher', 'call-never'), /lead 8 is not known/)
  const skip = () => skipParked({ pool, streams }, 'dispatcher', 'call-never', 0n, 'no such lead')
  t.equal(await skip(), 'The dispatcher goes on without call-never@0.')
  await t.rejects(skip(), /has not parked call-never@0:/)
  t.strictSame(await countParkedStreams(pool), [])
  t.equal((await r.deliveries()).length, 2)
})
