// Anybody who reaches the event store can append what looks sealed: it stops nobody, and is kept by nobody.
import t from 'tap'
import { randomUUID } from 'node:crypto'
import { jsonEvent } from '@eventstore/db-client'
import { sealedIn } from '../../src/domain/sealed.js'
import { newLead } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { testService } from '../support/service.js'

const { call, client } = await testService(t)
const sound = { person: `${'0'.repeat(32)}-${'1'.repeat(32)}`, key_id: randomUUID(), text: 'AAAA' }
let numbers = 0
const odd = {
  'a person of a million characters': { ...sound, person: `a-${'b'.repeat(1_000_000)}` },
  'no person': { ...sound, person: '' },
  'a person without a number': { ...sound, person: 'abc' },
  'a key that is no UUID': { ...sound, key_id: 'the key' },
  'a text that is a number': { ...sound, text: 7 },
  'nothing, and the person in plain': undefined
}

for (const [title, sealed] of Object.entries(odd)) {
  t.test(`${title}: the event cannot be read, and what comes behind it can`, async (t) => {
    t.equal(sealedIn({ sealed }), undefined)
    const at = '2026-01-31T12:00:00.000Z'
    const person = sealed ? { sealed } : { phone_number: '+15550000001', variables: { customer_name: 'Ada', email: '' } }
    const data = { lead_id: 900_000, user_id: '1', campaign_id: 1, ...person, secondary_contacts: [], created_at: at }
    const event = jsonEvent({ id: randomUUID(), type: 'LeadCreated', data, metadata: {} })
    const stream = `lead-1-${randomUUID()}`
    await client.appendToStream(stream, event)
    const created = await call('POST', '/user/lead', newLead({ phone_number: `+1555${String(++numbers).padStart(7, '0')}` }))
    const headers = { 'x-read-position': created.headers.get('x-read-position') ?? '' }
    const read = await eventually(async () => {
      const answer = await call('GET', `/user/lead/${created.body.data.id}`, undefined, { headers })
      return answer.status !== 503 && answer // the read model may be late, also for one that is pending in the answer
    })
    t.match(read, { status: 200, body: { data: { id: created.body.data.id } } })
    t.equal((await call('GET', '/user/lead/900000')).status, 404)
  })
}

t.test('what is sealed as it should be is taken', async (t) => {
  t.strictSame(sealedIn({ sealed: sound }), sound)
})
