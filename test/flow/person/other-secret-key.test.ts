// Another SECRET_KEY: a start is refused with what mends it, and after a reseal the former one is not needed.
import t from 'tap'
import { resealKeys } from '../../../src/privacy/rewrap.js'
import { secretKeys } from '../../../src/services/complete-config.js'
import type { Role } from '../../../src/services/services.js'
import { newLead } from '../../support/bodies/bodies.js'
import { secrets } from '../../support/auth/secrets.js'
import { eventually } from '../../support/eventually.js'
import { caller } from '../../support/running-service.js'
import { configOf, testService } from '../../support/service.js'

const service = await testService(t)
const { pool, streams } = service.parts
const changed = { SECRET_KEY: 'a secret for tests that came later 1234' }
const both = { ...changed, SECRET_KEY_PREVIOUS: secrets.SECRET_KEY }
const lead = (await service.call('POST', '/user/lead', newLead({ variables: { customer_name: 'Ada' } }))).body.data
await eventually(async () => (await pool.query('SELECT FROM ledger.person_keys')).rowCount)
const refusal = { name: 'PersonKeyUnreadable', message: /another SECRET_KEY: put the former one into SECRET_KEY_PREVIOUS/ }

for (const role of ['api', 'projector', 'worker'] satisfies Role[]) {
  t.test(`the role ${role} does not start with it, whether or not the ledger knows a key`, async (t) => {
    await t.rejects(service.start([role], changed), refusal)
    await pool.query('TRUNCATE ledger.person_keys')
    await t.rejects(service.start([role], changed), refusal)
    await (await service.start([role], both)).stop()
  })
}

t.test('after a reseal it starts without the former one, and reads and erases who was there before', async (t) => {
  const { signal } = new AbortController()
  t.equal(await resealKeys({ pool, streams, secretKeys: secretKeys(configOf(both)), signal }), 1)
  const { url } = await service.start(['api', 'projector', 'worker'], changed)
  const [call, token] = [caller(url), await service.token('1')]
  const send = async (method: string, path: string, body?: object) =>
    (await call(method, path, { token, ...(body && { body }) })).body.data
  await send('PUT', `/user/lead/${lead.id}`, { variables: { customer_name: 'Grace' } })
  await eventually(async () => (await send('GET', `/user/lead/${lead.id}`)).variables.customer_name === 'Grace')
  const { id } = await send('POST', '/user/person/erase', { phone_number: lead.phone_number })
  await eventually(async () => (await send('GET', `/user/person-request/${id}`)).status === 'completed')
  t.equal(await send('GET', `/user/lead/${lead.id}`), undefined)
})
