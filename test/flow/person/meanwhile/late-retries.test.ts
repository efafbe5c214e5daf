// A request for an erasure or a copy whose answer was lost, and that is repeated once its row is removed: it is
// answered as the log has it, and what came since stays.
import t from 'tap'
import { newLead } from '../../../support/bodies/bodies.js'
import { eventually } from '../../../support/eventually.js'
import { numberOf } from '../../../support/scenes/scenes.js'
import { testService } from '../../../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool } } = service
const statusOf = async (id: string) => (await call('GET', `/user/person-request/${id}`)).body.data.status

/** As a process leaves it that dies between append and answer; the row of the request is removed a day later. */
async function lost (key: string, id: string): Promise<void> {
  await pool.query(`
    UPDATE ledger.idempotency_keys SET committed_at = NULL, about = NULL, answer = NULL, answer_key_id = NULL, leased_until = '-infinity'
    WHERE key = $1`, [key])
  await pool.query('DELETE FROM ledger.work WHERE id = $1', [id])
}

for (const [nth, what] of ['erase', 'export'].entries()) {
  t.test(what, async (t) => {
    const phone_number = numberOf(nth)
    const ask = () => call('POST', `/user/person/${what}`, { phone_number }, { headers: { 'idempotency-key': what } })
    const { id } = (await ask()).body.data
    await eventually(async () => await statusOf(id) === 'completed')
    await lost(what, id)
    const { body: { data: since } } = await call('POST', '/user/lead', newLead({ phone_number }))
    const { status, body } = await ask()
    t.match([status, body.data.id, await statusOf(id)], [202, id, 'completed'])
    const noted = await pool.query('SELECT FROM ledger.work WHERE id = $1', [id])
    t.equal(noted.rowCount, 0, 'nobody works on it')
    t.equal((await call('GET', `/user/lead/${since.id}`)).status, 200)
  })
}
