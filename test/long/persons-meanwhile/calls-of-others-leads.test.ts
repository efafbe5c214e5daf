// A person who is erased had answered for the leads of others: these are as before, also for a replay from a log that
// has only left of the calls what is not personal, and has it where they were erased.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { callStream } from '../../../src/features/calls/events.js'
import { secrets } from '../../support/auth/secrets.js'
import { newLead } from '../../support/bodies/bodies.js'
import { call as reported } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { dataDir, run } from '../../support/ringledger.js'
import { newAssistant, testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t, ['api', 'projector', 'worker'])
const { call, parts: { pool, streams }, urls } = service
const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
const gone = '+15558880001'
let count = 0

const newOne = async (): Promise<number> =>
  (await call('POST', '/user/lead', newLead({ phone_number: `+1555888100${++count}` }))).body.data.id

/** As an engine appends it: plain. */
async function answered (lead_id: number, more: object): Promise<void> {
  const id = `answered-${++count}`
  const data = reported(id, { assistant_id: assistant, from: gone, lead_id, ...more })
  await streams.append(callStream(id), [{ id: randomUUID(), type: 'CallCompleted', metadata: {}, data }], -1n)
  await eventually(async () => (await call('GET', `/user/call/${id}`)).status === 200)
}

const rows = async () => (await pool.query(`
  SELECT id, status, updated_at, newest_report_at FROM read_model.leads ORDER BY id`)).rows

t.test('the status and times of a lead stay as calls and its user have left them', async (t) => {
  const [changed, moved, twice] = [await newOne(), await newOne(), await newOne()]
  await answered(changed, { lead_status: 'rescheduled' })
  await call('PUT', `/user/lead/${changed}`, { status: 'created' })
  await answered(moved, { lead_status: 'processing' })
  await answered(twice, { lead_status: 'rescheduled', ended_at: '2026-01-31T12:10:00.000Z' })
  await answered(twice, { from: '+15558889999', status: 'busy', ended_at: '2026-01-31T12:20:00.000Z' })
  const before = await rows()
  const { body: { data: { id } } } = await call('POST', '/user/person/erase', { phone_number: gone })
  await eventually(async () => (await call('GET', `/user/person-request/${id}`)).body.data.status === 'completed', 60_000)
  t.match(before.map(({ status }) => status), ['created', 'processing', 'rescheduled'])
  t.strictSame(await rows(), before)
  for (const name of ['verify', 'replay', 'verify']) {
    const { code, stdout, stderr } = await run(t, ['projections', name, 'leads'], env)
    t.equal(code, 0, `${name}: ${stdout}${stderr}`)
  }
  t.strictSame(await rows(), before)
})
