// `ringledger person` as an operator runs it.
import t from 'tap'
import { callReport, newLead } from '../../support/bodies/bodies.js'
import { dataDir, runWarm } from '../../support/ringledger.js'
import { secrets } from '../../support/auth/secrets.js'
import { newAssistant, testService } from '../../support/service.js'

const { call, token, urls } = await testService(t)
const env = {
  ...secrets, DATA_DIR: dataDir(t), DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl
}
const phone_number = '+15557654321'

t.test('an export is printed, without a worker too', async (t) => {
  const assistant = (await call('POST', '/user/assistant', newAssistant)).body.data.id
  const lead = (await call('POST', '/user/lead', newLead({ phone_number }))).body.data
  const headers = { authorization: `Bearer ${await token('engine', 'engine')}` }
  await call('POST', '/engine/calls/c-1/completed', callReport(assistant, { from: phone_number }), { headers })
  const { code, stdout, stderr } = await runWarm(['person', 'export', '--user', '1', phone_number], env)
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { phone_number, leads: [{ id: lead.id }], calls: [{ call_id: 'c-1' }] })
  t.notMatch(stderr, '5557654321')
})

t.test('one of the user’s own phone numbers is no person', async (t) => {
  await call('POST', '/user/phone-number', { phone_number: '+15557654329' })
  const refused = { code: 1, stderr: /<phone> is one of the phone numbers of user 1, and no person/ }
  t.match(await runWarm(['person', 'erase', '--user', '1', '+15557654329'], env), refused)
  t.match(await runWarm(['person', 'export', '--user', '1', '+15557654329'], env), refused)
})

t.test('what is no number, or no user, is refused', async (t) => {
  t.match(await runWarm(['person', 'export', '--user', '1', '5557654321'], env), { code: 1, stderr: /E\.164/ })
  t.match(await runWarm(['person', 'export', '--user', '', phone_number], env), { code: 1, stderr: /--user/ })
})

t.test('an erasure ends when it is done, without a worker too', async (t) => {
  const lead = (await call('POST', '/user/lead', newLead({ phone_number: '+15557654322' }))).body.data
  const { code, stdout, stderr } = await runWarm(['person', 'erase', '--user', '1', '+15557654322'], env)
  t.match({ code, stdout }, { code: 0, stdout: /erased/ }, stderr)
  t.notMatch(stdout + stderr, '5557654322')
  t.equal((await call('GET', `/user/lead/${lead.id}`)).status, 404)
  const again = await runWarm(['person', 'erase', '--user', '1', '+15557654322', '--json'], env)
  t.match(JSON.parse(again.stdout), { id: String, status: 'completed' })
})
