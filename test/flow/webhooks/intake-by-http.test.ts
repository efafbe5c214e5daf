// Calls come in by HTTP: what is wrong with one is refused and said, and nothing of it is recorded.
import t from 'tap'
import { callReport } from '../../support/bodies/bodies.js'
import { assistantCreated, call, campaign, leadCreated } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { delivered, intake } from '../../support/scenes/intake.js'
import { webhookProblems } from '../../support/documents/webhook-schemas.js'

const { hook, on, assistant, lead, strange, append, appendLead, post, isFed, rowOf, dataOf } = await intake(t)

t.test('the same report again is accepted, another one is refused, and one webhook is sent', async (t) => {
  const body = callReport(assistant, { lead_id: lead })
  t.same((await Promise.all([post('http', body), post('http', body)])).map(({ status }) => status), [202, 202])
  t.equal((await post('http', { ...body, duration: 1 })).status, 409)
  await append('call-http', call('http', { assistant_id: assistant }), { revision: 1n })
  await isFed()
  await eventually(async () => (await rowOf('http'))[0]?.status === 'delivered')
  t.same(await rowOf('http'), delivered(1))
  t.equal(dataOf('http').lead.id, lead)
})

t.test('what does not fit is refused by field, and nothing is recorded', async (t) => {
  await append('assistant-8000', '{}', { type: 'AssistantCreated' })
  const refused: [given: object, field: string][] = [
    [{ assistant_id: 999_999 }, 'assistant_id'], [{ assistant_id: 8_000 }, 'assistant_id'],
    [{ lead_id: 999_999 }, 'lead_id'], [{ lead_id: strange }, 'lead_id'], [{ status: 'done' }, 'status'],
    [{ transcript: [{ role: 'bot', text: 'x', at: 0 }] }, 'transcript.0.role']
  ]
  for (const [given, field] of refused) {
    const { status, body } = await post('refused', callReport(assistant, given))
    t.equal(status, 422)
    t.same(Object.keys(body.errors), [field])
  }
  t.equal(
    (await post('refused', callReport(assistant, { input_variables: { text: 'x'.repeat(1024 * 1024) } }))).status, 413
  )
  await isFed()
  t.same(await rowOf('refused'), [])
})

t.test('a call before its assistant or lead is refused; a campaign may come later', async (t) => {
  t.equal((await post('soon', callReport(9_000))).status, 422)
  await append('assistant-9000', assistantCreated(9_000, on).data, { type: 'AssistantCreated' })
  t.equal((await post('soon', callReport(9_000, { lead_id: 9_001 }))).status, 422)
  await appendLead('lead-9000-x', leadCreated(9_001, 9_000).data)
  t.equal((await post('soon', callReport(9_000, { lead_id: 9_001 }))).status, 202)
  await append('campaign-9000', campaign('CampaignCreated', 9_000, 'Late').data, { type: 'CampaignCreated' })
  t.equal((await post('later', callReport(9_000, { lead_id: 9_001 }))).status, 202)
  await eventually(() => ['soon', 'later'].every(dataOf))
  t.same(['soon', 'later'].map((callId) => dataOf(callId).lead.campaign), [
    { id: 9_000, name: '' }, { id: 9_000, name: 'Late' }
  ])
})

t.test('every webhook that left fits its schema', async (t) => {
  for (const { body } of hook.received) t.same(webhookProblems(body), [])
})
