// Contacts who stay on a lead when others beside them are erased: they are as before, in their order, also for a
// replay, which comes to events that nobody can read whole any more.
import t from 'tap'
import { newLead } from '../../support/bodies/bodies.js'
import { secrets } from '../../support/auth/secrets.js'
import { erasing } from '../../support/persons/erasing.js'
import { dataDir, run } from '../../support/ringledger.js'
import { numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

t.setTimeout(120_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool }, urls } = service
const erase = erasing(service)
const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
const contacts = (...numbers: number[]) => numbers.map((n) => ({ phone_number: numberOf(n), variables: {} }))

const rows = async () => (await pool.query('SELECT * FROM read_model.leads ORDER BY id')).rows

t.test('they keep their places', async (t) => {
  const created = newLead({ phone_number: numberOf(901), secondary_contacts: contacts(1, 2, 3, 4) })
  const changed = newLead({ phone_number: numberOf(902), secondary_contacts: contacts(5) })
  const { body: { data: lead } } = await call('POST', '/user/lead', created)
  const { body: { data: { id } } } = await call('POST', '/user/lead', changed)
  await call('PUT', `/user/lead/${id}`, { secondary_contacts: contacts(6, 1, 7, 3, 8) })
  for (const n of [1, 3]) await erase(numberOf(n))
  const before = await rows()
  const numbersOn = async (id: number) => (await call('GET', `/user/lead/${id}`)).body.data.secondary_contacts
    .map((contact: { phone_number: string }) => contact.phone_number)
  t.strictSame(await numbersOn(lead.id), [2, 4].map(numberOf))
  t.strictSame(await numbersOn(id), [6, 7, 8].map(numberOf))
  for (const name of ['verify', 'replay', 'verify']) {
    const { code, stdout, stderr } = await run(t, ['projections', name, 'leads'], env)
    t.equal(code, 0, `${name}: ${stdout}${stderr}`)
  }
  t.strictSame(await rows(), before)
})
