// What operators ask of read models is recorded, and told in logs, without what the rows say of persons: neither when
// rows differ, nor when such differences are accepted.
import t from 'tap'
import { leads } from '../../../projections/leads.js'
import { activeGeneration } from '../../../projections/engine/generations.js'
import { newLead } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t)
const { call, parts: { pool } } = service
const headers = { authorization: `Bearer ${await service.token('operator', 'ops')}` }
const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
const phone_number = '+15557770001'
service.neverLogs('5557770001', '5557770002', 'Ada Hidden', 'ada hiding', 'ada@hidden')
const { id } = (await call('POST', '/user/lead', newLead({ phone_number, variables }))).body.data

async function done (action: string) {
  const { body: { data } } = await call('POST', `/ops/api/projections/leads/${action}`, undefined, { headers })
  return await eventually(async () => {
    const { body } = await call('GET', `/ops/api/actions/${data.id}`, undefined, { headers })
    return body.data.state !== 'running' && body.data
  }, 60_000)
}

t.test('rows that differ are told by their keys and the columns', async (t) => {
  const schema = `read_leads_g${await activeGeneration(pool, leads)}`
  await pool.query(`UPDATE ${schema}.leads SET phone_number = '+15557770002', words = 'ada hiding' WHERE id = $1`, [id])
  for (const action of ['verify', 'replay']) {
    const { state, message } = await done(action)
    t.equal(state, 'failed', action)
    t.match(message, new RegExp(`leads ${id}: phone_number, words$`, 'm'), action)
  }
  const { rows } = await pool.query('SELECT message FROM ledger.projection_actions')
  t.notMatch(JSON.stringify(rows), /\+1555|hid(den|ing)/i)
})
