// Calls with their reports, and what became of their webhooks.
import t from 'tap'
import { call as report } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { readScene, timestamp as at } from '../../support/scenes/scenes.js'

const { call, get, create, createLead, complete, hook } = await readScene(t)

t.test('a call shows its report and the deliveries of its webhook', async (t) => {
  const id = await create({ is_webhook_active: true, webhook_url: hook.url })
  const lead = await createLead('+15558880010')
  const { status, headers } =
    await complete('told', { assistant_id: id, lead_id: lead.id, started_at: '2026-01-31T13:00:00+01:00' })
  t.equal(status, 202)
  const delivered = await eventually(async () => {
    const { body } = await call('GET', '/user/call/told', undefined, {
      headers: { 'x-read-position': headers.get('x-read-position') ?? '' }
    })
    return body.data.deliveries[0]?.status === 'delivered' && body.data
  })
  const { deliveries, ...rest } = delivered
  const { call_id, lead_status, ...reported } = report('told')
  const named = { assistant_id: id, lead_id: lead.id, lead: { id: lead.id } }
  t.same(rest, { call_id, ...reported, ...named, started_at: '2026-01-31T12:00:00.000Z' })
  t.equal(deliveries.length, 1)
  t.same(Object.keys(deliveries[0]), [
    'id', 'call_id', 'assistant_id', 'type', 'status', 'reason', 'attempt_count', 'next_attempt_at', 'created_at',
    'url', 'last_error', 'attempts'
  ])
  t.match(deliveries[0], {
    id: hook.received.at(-1)?.headers['webhook-id'],
    call_id,
    assistant_id: id,
    type: 'call.completed',
    reason: null,
    attempt_count: 1,
    next_attempt_at: null,
    created_at: at
  })
  t.same(Object.keys(deliveries[0].attempts[0]), [
    'n', 'trigger', 'started_at', 'finished_at', 'outcome', 'status_code', 'duration_ms', 'error', 'response_excerpt'
  ])
  t.match(deliveries[0].attempts, [{
    n: 1, trigger: 'schedule', started_at: at, finished_at: at, outcome: 'delivered', status_code: 200, error: null
  }])
  t.equal((await get(`/user/lead/${lead.id}`)).body.data.status, 'completed')
})

t.test('calls are listed without their transcripts, the last first, and filtered', async (t) => {
  const [one, two] = [await create(), await create()]
  const lead = await createLead('+15558880020')
  const at = (day: number) => ({ started_at: `2025-03-0${day}T09:59:00Z`, ended_at: `2025-03-0${day}T10:00:00Z` })
  await complete('list-1', { assistant_id: one, ...at(1) })
  await complete('list-2', { assistant_id: one, ...at(3), status: 'busy', lead_id: lead.id })
  const { headers } = await complete('list-3', {
    assistant_id: two, ...at(2), direction: 'inbound', from: '+4915112345670'
  })
  const position = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  const ids = async (query: string) => {
    const { body } = await call('GET', `/user/calls?date_to=2025-12-31&${query}`, undefined, position)
    t.equal(body.meta.total, body.data.length)
    return body.data.map(({ call_id }: { call_id: string }) => call_id)
  }
  t.same(await ids(''), ['list-2', 'list-3', 'list-1'])
  t.same(await ids(`assistant_id=${one}`), ['list-2', 'list-1'])
  t.same(await ids(`lead_id=${lead.id}`), ['list-2'])
  t.same(await ids('status=completed'), ['list-3', 'list-1'])
  t.same(await ids('date_from=2025-03-02'), ['list-2', 'list-3'])
  t.same(await ids('campaign_id=1'), ['list-2'], 'of its lead')
  t.same(await ids('campaign_id=2'), [])
  t.same(await ids('direction=inbound'), ['list-3'])
  t.same(await ids('phone_number=+49151'), ['list-3'], 'of the customer, who called')
  t.same(
    await ids('phone_number=15551230001&direction=outbound'), ['list-2', 'list-1'], 'of the customer, who was called'
  )
  t.same(await ids('search=49151'), ['list-3'])
  t.same(await ids('updated_from=2026-01-01'), ['list-2', 'list-3', 'list-1'], 'when they were recorded')
  t.same(await ids('updated_from=2999-12-31'), [])
  const { body } = await get('/user/calls?date_to=2025-03-01')
  t.same(Object.keys(body.data[0]), [
    'call_id', 'assistant_id', 'lead_id', 'lead', 'status', 'direction', 'from', 'to', 'started_at', 'ended_at',
    'duration'
  ])
})
