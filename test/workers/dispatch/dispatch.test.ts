// What becomes of a call: a delivery, or a row with the reason why there is none.
import t from 'tap'
import { callStatuses } from '../../../src/features/calls/events.js'
import {
  assistantCreated, assistantUpdated, callCompleted, campaign, leadCreated, logOf, settings
} from '../../support/events/call-events.js'
import { onlyDelivery, tables, url, webhookOn } from './dispatching.js'
import { dispatchRig } from '../../support/workers/delivery-rig.js'

t.test('each call that is not sent has its row with the reason', async (t) => {
  const r = await dispatchRig(t)
  const { status: _status, ...incomplete } = callCompleted('c-bad').data as Record<string, unknown>
  await r.tell(
    assistantCreated(1),
    assistantCreated(2, webhookOn),
    assistantCreated(3, { ...webhookOn, send_webhook_only_on_completed: false }),
    callCompleted('c-off'),
    callCompleted('c-failed', { assistant_id: 2, status: 'failed' }),
    callCompleted('c-busy', { assistant_id: 3, status: 'busy' }),
    callCompleted('c-nobody', { assistant_id: 9 }),
    { stream: 'call-c-bad', type: 'CallCompleted', data: incomplete }
  )
  t.same((await r.deliveries()).map(({ call_id, status, reason, user_id }) => [call_id, status, reason, user_id]), [
    ['c-off', 'skipped', 'webhook_off', '1'],
    ['c-failed', 'skipped', 'not_completed', '1'],
    ['c-busy', 'scheduled', null, '1'],
    ['c-nobody', 'skipped', 'unknown_assistant', null],
    ['c-bad', 'skipped', 'invalid', null]
  ])
})

t.test('the settings at the place of the call in the log decide, within one batch and over several', async (t) => {
  const r = await dispatchRig(t)
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

t.test('later events of a call are counted, not sent; the first one stands', async (t) => {
  const r = await dispatchRig(t)
  await r.tell(assistantCreated(1, webhookOn), callCompleted('c-1'), callCompleted('c-1', { duration: 99 }))
  await r.tell(callCompleted('c-1'), callCompleted('c-1', { status: 'failed' }))
  const row = await onlyDelivery(r)
  t.match(row, { status: 'scheduled', duplicates: 3 })
  t.equal(row.data.duration, 60)
})

t.test('reading the log again changes nothing', async (t) => {
  const r = await dispatchRig(t)
  const events = logOf()([
    assistantCreated(1, webhookOn), campaign('CampaignCreated', 3, 'Spring'), leadCreated(7, 3),
    callCompleted('c-1', { lead_id: 7, lead_status: 'rescheduled' }), callCompleted('c-1'),
    assistantUpdated(1, { webhook_url: `${url}/2` })
  ])
  await r.tellStored(events)
  const before = [await r.deliveries(), await tables(r)]
  await r.tellStored(events)
  for (const event of events) await r.tellStored([event])
  t.same([await r.deliveries(), await tables(r)], before)
})

t.test('send_webhook_only_on_completed keeps back other statuses; without it every status is sent', async (t) => {
  const r = await dispatchRig(t)
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

t.test('a call in a version that only a later release knows is skipped, never read as an older one', async (t) => {
  const r = await dispatchRig(t)
  const versions = ['1', '3', 'next'].map((schema_version) =>
    ({ ...callCompleted(`c-${schema_version}`), metadata: { schema_version } }))
  await r.tell(assistantCreated(1, webhookOn), callCompleted('c-0'), ...versions)
  t.same((await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason]), [
    ['c-0', 'scheduled', null], ['c-1', 'scheduled', null],
    ['c-3', 'skipped', 'invalid'], ['c-next', 'skipped', 'invalid']
  ])
  t.match(r.log.lines, [
    { details: { problem: /schema_version 3 is not known/ } },
    { details: { problem: /schema_version next is not known/ } }
  ])
})

t.test('malformed, misplaced and unstorable events stop nothing and are kept for operators', async (t) => {
  const r = await dispatchRig(t)
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
    { stream: 'call-c-3', type: 'CallCompleted', data: new Uint8Array([1, 2]) },
    callCompleted('c-4', { transcript: [{ role: 'tool', text: 'nul \0 and \ud800', at: 0 }] })
  )
  t.same((await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason]), [
    ['c-2', 'skipped', 'invalid'], ['c-3', 'skipped', 'invalid'], ['c-4', 'scheduled', null]
  ])
  t.match((await r.deliveries())[2]?.body, 'nul \\u0000 and \\ud800')
  const { rows } = await r.pool.query(`
    SELECT stream FROM ledger.parked_events WHERE consumer = 'dispatcher' ORDER BY position`)
  t.same(rows.map(({ stream }) => stream), ['assistant-2', 'assistant-99', 'assistant-3', 'call-not ok'])
  t.equal((await r.hook()).url, url)
})

t.test('a batch of large bodies is written in pieces, every row once', async (t) => {
  const r = await dispatchRig(t)
  const turns = [{ role: 'tool' as const, text: 'x'.repeat(120_000), at: 0 }]
  const calls = Array.from({ length: 100 }, (_, n) => callCompleted(`c-${n}`, { transcript: turns }))
  await r.tell(assistantCreated(1, webhookOn), ...calls)
  t.equal((await r.deliveries()).length, 100)
})
