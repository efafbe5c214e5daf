// The fields of leads and their secondary contacts at their limits.
import t from 'tap'
import { CreateLeadBody, validateLead } from '../../../src/features/leads/decide.js'
import { newLead } from '../../support/bodies/bodies.js'
import { submitting } from '../../support/commands/given.js'
import { brief } from '../../support/scenes/scenes.js'

type RefusedLead = [given: object, errors: Record<string, string[]>]

const noNumber = 'must be a phone number in E.164 format, such as +15551230001'
const repeated = 'must differ from the other phone numbers of this lead'
const notOwned = 'must be one of your campaigns'

const badNumbers = ['', '+1', '+0123', '15551230001', `+1${'2'.repeat(15)}`, '+1 555', '+12\n', 'tel:+15551230001']

const each = (field: string, message: string, ...values: unknown[]): RefusedLead[] =>
  values.map((value) => [{ [field]: value }, { [field]: [message] }])

/** `fresh` gives phone numbers that no lead has. */
function refusedLeads (fresh: () => string): RefusedLead[] {
  const contacts = (count: number) => Array.from({ length: count }, () => ({ phone_number: fresh() }))
  return [
    ...each('phone_number', noNumber, ...badNumbers),
    ...each('phone_number', 'must be a string', null, 15551230001),
    ...each('campaign_id', notOwned, 3, Number.MAX_SAFE_INTEGER),
    ...each('campaign_id', 'must be at least 1', 0),
    ...each('campaign_id', 'must be an integer', '1', 1.5, null),
    ...each('variables', 'must be an object', null, []),
    ...each('allow_dupplicate', 'must be true or false', 'true', 1, null),
    ...each('secondary_contacts', 'must be an array', null, {}),
    ...each('secondary_contacts', 'must have at most 10 items', contacts(11)),
    [
      { variables: variables(1_001), secondary_contacts: [{ phone_number: fresh(), variables: { ['n'.repeat(256)]: 1 } }] }, {
        variables: ['must have at most 1000 entries'],
        'secondary_contacts.0.variables': ['must not have a name of more than 255 characters']
      }
    ],
    ...severalErrors(contacts(2))
  ]
}

const variables = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, n]))

const severalErrors = (twice: object[]): RefusedLead[] => [
  [
    { phone_number: undefined, campaign_id: undefined },
    { phone_number: ['is required'], campaign_id: ['is required'] }
  ],
  [{ variables: { customer_name: null }, secondary_contacts: [{}, { phone_number: 'x', variables: { email: 1 } }, null] }, {
    'variables.customer_name': ['must be a string'],
    'secondary_contacts.0.phone_number': ['is required'],
    'secondary_contacts.1.phone_number': [noNumber],
    'secondary_contacts.1.variables.email': ['must be a string'],
    'secondary_contacts.2': ['must be an object']
  }],
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

let last = 0
const fresh = () => `+4930${String(++last).padStart(7, '0')}`
const freshLead = (given: object = {}) => newLead({ phone_number: fresh(), ...given })
const ofUser1 = ({ campaign_id: id }: Partial<CreateLeadBody>) =>
  ({ campaignName: id === undefined ? undefined : id === 1 || id === 2 ? 'Spring' : null })
const create = submitting(CreateLeadBody, ofUser1, validateLead)

t.test('every field takes its limits', async (t) => {
  const good = [
    ...['+12', `+${'9'.repeat(15)}`].map((phone_number) => ({ phone_number })),
    { campaign_id: 1 }, { campaign_id: 2 }, { allow_dupplicate: true },
    { variables: { customer_name: '', email: '', '👋': { a: [null, true] } } },
    { variables: { ['n'.repeat(255)]: 1 }, secondary_contacts: [{ phone_number: fresh(), variables: variables(1_000) }] },
    { secondary_contacts: [{ phone_number: '+12' }, { phone_number: `+${'9'.repeat(15)}`, variables: {} }] },
    { secondary_contacts: Array.from({ length: 10 }, () => ({ phone_number: fresh() })) }
  ]
  for (const given of good) t.ok('made' in create(freshLead(given)), brief(given))
})

t.test('every field refuses what is beyond its limits, with a message', async (t) => {
  for (const [given, errors] of refusedLeads(fresh)) t.same(create(freshLead(given)), { errors }, brief(given))
})
