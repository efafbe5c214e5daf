// Thousands of bodies at POST /user/lead: each is refused with a reason, or read back as it was sent.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { CreateLeadBody } from '../../../src/features/leads/decide.js'
import { fuzzBodies, type FuzzBody, type JsonObject } from '../../support/fuzz/bodies.js'
import {
  bodyCount, brokenRule, eventCounts, fuzzSeed, places, sender, sent, throwAll
} from '../../support/fuzz/rules.js'
import { testService } from '../../support/service.js'

const seed = fuzzSeed(t)
let numbers = 0
const bodies = fuzzBodies({ seed, count: bodyCount, schema: CreateLeadBody, sound: soundLead })
const service = await testService(t)
const send = await sender(t, service)
const campaigns = new Map([[1, 'Spring renewals'], [2, 'Appointment reminders']])

t.test('every body is refused with a reason, or creates exactly the lead that it describes', async (t) => {
  const created = new Map<number, JsonObject>()
  await throwAll(t, bodies, Array.from({ length: places }), async (body) => {
    const answer = await send('POST', '/user/lead', body.bytes)
    const { status, body: { data } } = answer
    if (status === 200) created.set(data.id, data)
    return {
      status,
      wrong: brokenRule(body, answer, [200, 400, 413, 422]) ?? (status === 200 ? difference(body, data) : undefined)
    }
  })
  t.ok(created.size > bodies.length / 12, 'enough of them were accepted to mean something')
  t.equal((await eventCounts(service)).get('LeadCreated'), created.size, 'what was refused wrote nothing')
  await t.test('and every lead is read back as it was answered', async (t) => {
    const pages = await Promise.all(Array.from({ length: Math.ceil(created.size / 100) }, (_, index) =>
      send('GET', `/user/leads?per_page=100&page=${index + 1}`)))
    const found: JsonObject[] = pages.flatMap(({ body }) => body.data)
    t.equal(found.length, created.size, 'none is missing, none is there twice')
    t.strictSame(found.filter((lead) => !isDeepStrictEqual(lead, created.get(Number(lead.id)))), [], 'none differs')
  })
})

const text = (value: unknown) => typeof value === 'string' ? value : ''

/** The documented object, written from the interface; ids and times are the service's own. */
function difference (body: FuzzBody, data: JsonObject): string | undefined {
  const { phone_number, campaign_id, variables, secondary_contacts: contacts = [] } = sent(body)
  const { id, created_at, updated_at } = data
  const answered = Array.isArray(data.secondary_contacts) ? data.secondary_contacts : []
  const own = { status: 'created', created_at, updated_at }
  const described = (given: unknown) =>
    ({ ...given as JsonObject, customer_name: text(Object(given).customer_name), email: text(Object(given).email) })
  const expected = {
    id,
    campaign_id,
    phone_number,
    variables: described(variables),
    ...own,
    campaign: { id: campaign_id, name: campaigns.get(Number(campaign_id)) },
    secondary_contacts: (contacts as JsonObject[]).map((contact, index) =>
      ({
        id: answered[index]?.id, phone_number: contact.phone_number, variables: described(contact.variables), ...own
      }))
  }
  const ids = [id, ...answered.map((contact: JsonObject) => contact.id)]
  if (new Set(ids).size !== ids.length || !ids.every(Number.isSafeInteger)) return `gave the ids ${ids.join()}`
  return isDeepStrictEqual(data, expected)
    ? undefined
    : `answered ${JSON.stringify(data)}, and not ${JSON.stringify(expected)}`
}

/** Makes what fits the schema of a lead fit the rules as well; one wrong digit does not give another's number. */
function soundLead (generated: JsonObject): JsonObject {
  const body = structuredClone(generated)
  const contacts = Array.isArray(body.secondary_contacts) ? body.secondary_contacts : []
  for (const contact of [body, ...contacts]) contact.phone_number = `+1${5_550_000_000 + 7_919 * numbers++}`
  body.campaign_id = 1 + Number(body.campaign_id) % 2
  return body
}
