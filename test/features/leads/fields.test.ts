// Leads and their secondary contacts as the interface documents them, over HTTP.
import t from 'tap'
import { newLead } from '../../support/bodies/bodies.js'
import { brief, refusal, told } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

// Bodies of leads that are refused, each with its errors.
type RefusedLead = [given: object, errors: Record<string, string[]>]

const noNumber = 'must be a phone number in E.164 format, such as +15551230001'
const repeated = 'must differ from the other phone numbers of this lead'
const notOwned = 'must be one of your campaigns'

const badNumbers = [
  '', '+', '+1', '+0123', '15551230001', `+1${'2'.repeat(15)}`, '+1 555', '+1555-123', '+1555123000१', '+12\n',
  ' +12', '0015551230001', 'tel:+15551230001'
]

/** One field with each of these values. */
const each = (field: string, message: string, ...values: unknown[]): RefusedLead[] =>
  values.map((value) => [{ [field]: value }, { [field]: [message] }])

/** `fresh` gives phone numbers that no lead has. */
function refusedLeads (fresh: () => string): RefusedLead[] {
  const contacts = (count: number) => Array.from({ length: count }, () => ({ phone_number: fresh() }))
  return [
    ...each('phone_number', noNumber, ...badNumbers),
    ...each('phone_number', 'must be a string', null, 15551230001, true, [], {}),
    ...each('campaign_id', notOwned, 3, 99, Number.MAX_SAFE_INTEGER),
    ...each('campaign_id', 'must be at least 1', 0, -1),
    ...each('campaign_id', 'must be between 1 and 9007199254740991', 2 ** 53, 1e300),
    ...each('campaign_id', 'must be an integer', '1', 1.5, null, true, [1], {}),
    ...each('variables', 'must be an object', null, [], 'x', 5),
    ...each('allow_dupplicate', 'must be true or false', 'true', 1, 0, null),
    ...each('secondary_contacts', 'must be an array', null, {}, 'x'),
    ...each('secondary_contacts', 'must have at most 10 items', contacts(11)),
    ...severalErrors(contacts(2))
  ]
}

const severalErrors = (twice: object[]): RefusedLead[] => [
  [
    { phone_number: undefined, campaign_id: undefined },
    { phone_number: ['is required'], campaign_id: ['is required'] }
  ],
  [
    { variables: { customer_name: null, email: 5 } },
    { 'variables.customer_name': ['must be a string'], 'variables.email': ['must be a string'] }
  ],
  [{ secondary_contacts: [{}, { phone_number: 'x', variables: { email: 1 } }, null] }, {
    'secondary_contacts.0.phone_number': ['is required'],
    'secondary_contacts.1.phone_number': [noNumber],
    'secondary_contacts.1.variables.email': ['must be a string'],
    'secondary_contacts.2': ['must be an object']
  }],
  [
    { secondary_contacts: [...twice, ...twice] },
    { 'secondary_contacts.2.phone_number': [repeated], 'secondary_contacts.3.phone_number': [repeated] }
  ],
  [
    { phone_number: '+15559990000', secondary_contacts: [{ phone_number: '+15559990000' }] },
    { 'secondary_contacts.0.phone_number': [repeated] }
  ],
  [{ campaign_id: 3, secondary_contacts: [...twice, twice[0], {}] }, {
    campaign_id: [notOwned],
    'secondary_contacts.2.phone_number': [repeated],
    'secondary_contacts.3.phone_number': ['is required']
  }]
]

const { call } = await testService(t)
const create = (body: unknown, user = '1') => call('POST', '/user/lead', body, { user })
let last = 0
/** A phone number that no other lead has. */
const fresh = () => `+4930${String(++last).padStart(7, '0')}`
const freshLead = (given: object = {}) => newLead({ phone_number: fresh(), ...given })
const total = async (user = '1') => (await call('GET', '/user/leads', undefined, { user })).body.meta.total

interface LeadData { id: number, created_at: string, updated_at: string, secondary_contacts: LeadData[] }

t.test('a lead has the documented keys and no others, with times in UTC and ids of one space', async (t) => {
  const contacts = Array.from({ length: 10 }, (_, index) =>
    ({ phone_number: fresh(), ...(index % 2 && { variables: { email: `${index}@example.com`, floor: index } }) }))
  const phone_number = fresh()
  const before = Math.floor(Date.now() / 1000) * 1000
  const given = { phone_number, campaign_id: 2, variables: { customer_name: 'Ada', slots: [1, null] } }
  const { status, body } = await create(newLead({ ...given, secondary_contacts: contacts }))
  const data: LeadData = body.data
  t.match(data.created_at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  const at = Date.parse(`${data.created_at.replace(' ', 'T')}Z`)
  t.ok(at >= before && at <= Date.now(), 'in UTC')
  const times = { created_at: data.created_at, updated_at: data.created_at }
  const ids = data.secondary_contacts.map(({ id }) => id)
  const contactOf = ({ phone_number, variables }: typeof contacts[number], index: number) => {
    const allVariables = { customer_name: '', email: '', ...variables }
    return { id: ids[index], phone_number, variables: allVariables, status: 'created', ...times }
  }
  t.strictSame({ status, body }, {
    status: 200,
    body: {
      message: 'Lead created successfully',
      data: {
        id: data.id,
        phone_number,
        variables: { customer_name: 'Ada', slots: [1, null], email: '' },
        status: 'created',
        ...times,
        campaign_id: 2,
        campaign: { id: 2, name: 'Appointment reminders' },
        secondary_contacts: contacts.map(contactOf)
      }
    }
  })
  const second: LeadData = (await create(freshLead({ secondary_contacts: [{ phone_number: fresh() }] }))).body.data
  const all = [data.id, ...ids, second.id, ...second.secondary_contacts.map(({ id }) => id)]
  t.equal(new Set(all).size, 13, 'no id twice')
  t.ok(all.every((id) => Number.isSafeInteger(id) && id > 0))
})

t.test('every field takes its limits', async (t) => {
  const good = [
    ...['+12', `+${'9'.repeat(15)}`].map((phone_number) => ({ phone_number })),
    { campaign_id: 1 }, { campaign_id: 2 }, { allow_dupplicate: true },
    { variables: { customer_name: '', email: '', '👋': { a: [null, true] } } },
    { secondary_contacts: [{ phone_number: '+12' }, { phone_number: `+${'9'.repeat(15)}`, variables: {} }] }
  ]
  for (const given of good) t.equal((await create(freshLead(given))).status, 200, brief(given))
})

t.test('every field refuses what is beyond its limits, with a message, and nothing is written', async (t) => {
  const before = await total()
  await Promise.all(refusedLeads(fresh).map(async ([given, errors]) =>
    t.strictSame(told(await create(freshLead(given))), refusal(errors), brief(given))))
  const notObject = refusal({ body: ['must be a JSON object'] })
  await Promise.all(['[]', '"x"', '5', 'null', 'true'].map(async (body) =>
    t.strictSame(told(await create(body)), notObject, body)))
  const { id } = (await create(freshLead())).body.data
  t.equal(await total(), before + 1, 'only the one that was not refused')
  t.ok(id)
})

t.test('unknown fields are ignored at every depth, and named', async (t) => {
  const { status, headers, body } = await create(freshLead({
    nickname: 'x',
    allow_duplicate: true,
    variables: { free: 1 },
    secondary_contacts: [{ phone_number: fresh(), email: 'x', variables: { free: 2 } }]
  }))
  t.equal(status, 200)
  t.equal(headers.get('x-ignored-fields'), 'nickname, allow_duplicate, secondary_contacts.0.email')
  t.strictSame(Object.keys(body.data.secondary_contacts[0]).sort(), [
    'created_at', 'id', 'phone_number', 'status', 'updated_at', 'variables'
  ])
  t.equal((await create(freshLead())).headers.get('x-ignored-fields'), null)
})
