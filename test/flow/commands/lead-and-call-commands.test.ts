// Command -> answer: what an outside caller gets for leads, for the calls that an engine reports, and for the secret
// that signs their webhooks.
import t from 'tap'
import { callReport, newAssistant, newLead } from '../../support/bodies/bodies.js'
import { startServiceOnRun } from '../../support/running-service.js'

interface Lead { id: number, created_at: string, updated_at: string, secondary_contacts: Array<{ id: number }> }

const service = await startServiceOnRun(t)
const { call } = service
const user = await service.token('1')
const other = await service.token('2')
const engine = await service.token('engine', 'engine')
const utcTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

const createdAssistant = async () =>
  (await call('POST', '/user/assistant', { token: user, body: newAssistant() })).body.data?.id ?? 0

const adaWithContacts = newLead({
  phone_number: '+15551230200',
  variables: { customer_name: 'Ada Example', appointment: { day: 'Tuesday' } },
  secondary_contacts: [
    { phone_number: '+15551230202', variables: { email: 'charles@example.com' } }, { phone_number: '+15551230201' }
  ]
})

/** The answer to `adaWithContacts`, under the ids and at the time that were given out. */
const leadAnswered = ({ id, created_at, updated_at }: Lead, first: number | undefined, second: number | undefined) => {
  const times = { created_at, updated_at }
  return {
    id,
    campaign_id: 1,
    phone_number: '+15551230200',
    variables: { customer_name: 'Ada Example', email: '', appointment: { day: 'Tuesday' } },
    status: 'created',
    ...times,
    campaign: { id: 1, name: 'Spring renewals' },
    secondary_contacts: [
      {
        id: first,
        phone_number: '+15551230202',
        variables: { customer_name: '', email: 'charles@example.com' },
        status: 'created',
        ...times
      },
      {
        id: second,
        phone_number: '+15551230201',
        variables: { customer_name: '', email: '' },
        status: 'created',
        ...times
      }
    ]
  }
}

t.test('creating a lead answers 200 with the documented keys and nothing else', async (t) => {
  const { status, headers, body } = await call('POST', '/user/lead', { token: user, body: adaWithContacts })
  t.equal(status, 200)
  t.match(headers.get('x-read-position'), /^\d+$/)
  const lead: Lead = body.data
  const { id, created_at, secondary_contacts } = lead
  t.match(created_at, utcTime)
  t.ok(Math.abs(Date.parse(`${created_at.replace(' ', 'T')}Z`) - Date.now()) < 60_000, 'in UTC')
  const [first, second] = secondary_contacts.map((contact) => contact.id)
  t.equal(new Set([id, first, second]).size, 3, 'each with an id of its own')
  t.strictSame(body, { message: 'Lead created successfully', data: leadAnswered(lead, first, second) })
})

t.test('a phone number is a lead of a campaign once, however many ask at the same time', async (t) => {
  const body = newLead({ phone_number: '+15551230300' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '/user/lead', { token: user, body })))
  t.same(answers.map(({ status }) => status).sort(), [200, 422, 422, 422, 422, 422, 422, 422])
  t.same(Object.keys(answers.find(({ status }) => status === 422)?.body.errors ?? {}), ['phone_number'])
  t.equal(
    (await call('POST', '/user/lead', { token: user, body: { ...body, campaign_id: 2 } })).status,
    200,
    'another campaign may have it'
  )
  t.equal(
    (await call('POST', '/user/lead', { token: user, body: { ...body, allow_dupplicate: true } })).status,
    200,
    'allow_dupplicate allows it'
  )
})

t.test('a call of 128 characters is accepted, a longer one refused', async (t) => {
  const report = { token: engine, body: callReport(await createdAssistant()) }
  const { status, headers, body } = await call('POST', `/engine/calls/${'c'.repeat(128)}/completed`, report)
  t.equal(status, 202)
  t.same(Object.keys(body), ['message'])
  t.match(headers.get('x-read-position'), /^\d+$/)
  const refused = await call('POST', `/engine/calls/${'c'.repeat(129)}/completed`, report)
  t.equal(refused.status, 422)
  t.same(Object.keys(refused.body.errors ?? {}), ['call_id'])
})

t.test('what the report of a call names must exist, and belong together', async (t) => {
  const id = await createdAssistant()
  const strange = (await call('POST', '/user/lead', { token: other, body: newLead({ campaign_id: 3 }) })).body.data?.id
  for (const [given, field] of [
    [{ assistant_id: 999_999 }, 'assistant_id'], [{ lead_id: strange }, 'lead_id'], [{ lead_id: 999_999 }, 'lead_id']
  ] as const) {
    const { status, body } =
      await call('POST', '/engine/calls/odd/completed', { token: engine, body: callReport(id, given) })
    t.equal(status, 422)
    t.same(Object.keys(body.errors ?? {}), [field])
  }
})

t.test('every user has a webhook secret of their own, which stays', async (t) => {
  const secretOf = async (token: string) => (await call('GET', '/user/webhook-secret', { token })).body.data
  const mine = await secretOf(user)
  t.match(mine, { secret: /^whsec_/, previous: null })
  t.same(await secretOf(user), mine)
  t.not((await secretOf(other))?.secret, mine?.secret)
})
