// Generations of read models that were built before the key of a person ended, or in a step of the erasure: none has
// the person in the end, and readers that are led back to a former one do not see them either.
import t, { type Test } from 'tap'
import { callReport, newLead } from '../../../support/bodies/bodies.js'
import { eventually } from '../../../support/eventually.js'
import { erasing, type Meanwhile } from '../../../support/persons/erasing.js'
import { generationsOf } from '../../../support/persons/generations.js'
import { numberOf } from '../../../support/scenes/imports.js'
import { newAssistant, testService } from '../../../support/service.js'

t.setTimeout(240_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool, positions, streams } } = service
const { replayed, rolledBack } = generationsOf(t, service)
const erase = erasing(service)
const engine = { headers: { authorization: `Bearer ${await service.token('engine', 'engine')}` } }
const webhook = { is_webhook_active: true, webhook_url: 'https://hooks.example.com/calls' }
const assistant = (await call('POST', '/user/assistant', { ...newAssistant, ...webhook })).body.data.id
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
let count = 0

/** A lead, a contact, and a call of each; that of the contact names nothing but its id. */
async function person () {
  const gone = numberOf(++count)
  const known = { phone_number: gone, variables }
  const lead = (await call('POST', '/user/lead', newLead(known))).body.data
  const holding = newLead({ phone_number: numberOf(++count), secondary_contacts: [known] })
  const holder = (await call('POST', '/user/lead', holding)).body.data
  const reports = {
    [`lead-${count}`]: { from: gone, lead_id: lead.id },
    [`contact-${count}`]: { from: 'anonymous', lead_id: holder.secondary_contacts[0].id }
  }
  for (const [id, given] of Object.entries(reports)) {
    await call('POST', `/engine/calls/${id}/completed`, callReport(assistant, given), engine)
    await eventually(async () => (await call('GET', `/user/call/${id}`)).status === 200)
  }
  return { gone, lead, holder, calls: Object.keys(reports) }
}

/** For readers, and in every generation and table. */
async function isGone (t: Test, { gone, lead, holder, calls }: Awaited<ReturnType<typeof person>>, when: string) {
  const head = await streams.head()
  for (const source of ['leads', 'calls', 'deliveries']) t.ok(await positions.reached(source, head, 10_000), source)
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404, when)
  t.strictSame((await call('GET', `/user/lead/${holder.id}`)).body.data.secondary_contacts, [], when)
  for (const id of calls) t.match((await call('GET', `/user/call/${id}`)).body.data, { erased: true, from: null }, when)
  const { rows: bodies } = await pool.query(
    'SELECT call_id FROM ledger.webhook_deliveries WHERE call_id = ANY ($1) AND body IS NOT NULL', [calls])
  t.strictSame(bodies, [], `no webhook has a body, ${when}`)
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname LIKE 'read\\_%' OR schemaname = 'ledger'`)
  for (const { name } of tables) {
    const found = await pool.query(`SELECT FROM ${name} AS found WHERE found::text ~ $1`, [`\\${gone}(\\D|$)`])
    if (found.rowCount !== 0) t.fail(`${name} has ${found.rowCount} rows with it, ${when}`)
  }
}

async function isErased (t: Test, meanwhile: Meanwhile): Promise<void> {
  const known = await person()
  await erase(known.gone, meanwhile)
  await isGone(t, known, 'once the erasure is done')
  t.comment((await rolledBack()).join('\n') || 'rolled back')
  await isGone(t, known, 'after a rollback')
}

t.test('kept from before the erasure', async (t) => {
  await replayed()
  await isErased(t, {})
})

const steps = ['settle', 'leads', 'calls', 'ledger', 'scavenge'] as const

for (const step of steps) {
  t.test(`built before the step ${step}`, async (t) => { await isErased(t, { [step]: replayed }) })
}

t.test('swapped in again when others were looked through', async (t) => {
  await isErased(t, { settle: replayed, ledger: rolledBack })
})
