// What is reported of a call over HTTP is sealed in the log; what an engine appends itself is as it wrote it.
import { randomUUID } from 'node:crypto'
import { FORWARDS } from '@eventstore/db-client'
import t from 'tap'
import { noStream } from '../../src/log/event-log.js'
import { collect } from '../support/back-ends/scratch-event-store.js'
import { callReport } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { receiver } from '../support/receivers/receiver.js'
import { newAssistant, testService } from '../support/service.js'

const { call, client, token, parts: { pool, streams, personKeys } } = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_SCHEDULE: '0s', WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
})
const hook = await receiver(t)
const assistantId: number = (await call('POST', '/user/assistant', {
  ...newAssistant, is_webhook_active: true, webhook_url: hook.url
})).body.data.id
const said = {
  from: '+15557780001',
  to: '+15557780002',
  recording_url: 'https://recordings.example.com/hidden',
  transcript: [{ role: 'customer' as const, text: 'A hidden word', at: 1 }],
  input_variables: { customer_name: 'Grace hidden' },
  extracted_variables: { summary: 'hidden' }
}
const report = (given: object = {}) => callReport(assistantId, { ...said, ...given })
const engine = { authorization: `Bearer ${await token('engine', 'engine')}` }
const send = async (callId: string, body: object) =>
  await call('POST', `/engine/calls/${callId}/completed`, body, { headers: engine })
const bytes = async (callId: string) => JSON.stringify((await collect(client.readStream(`call-${callId}`, {
  direction: FORWARDS
}))).map(({ event }) => event?.data))

t.test('a report over HTTP: its event has nothing of the person, and its owner and their receiver have all', async (t) => {
  t.equal((await send('sealed', report())).status, 202)
  const stored = await bytes('sealed')
  t.notMatch(stored, /778000|hidden/)
  t.match(JSON.parse(stored), [{ call_id: 'sealed', assistant_id: assistantId, status: 'completed', sealed: { text: /./ } }])
  const shown = await eventually(async () => {
    const answer = await call('GET', '/user/call/sealed')
    return answer.status === 200 && answer
  })
  t.match(shown.body.data, said)
  await eventually(() => hook.received.length === 1)
  t.match(String(hook.received[0]?.body), /A hidden word/)
})

t.test('a report as large as reports may be is sealed too', async (t) => {
  const text = Array.from({ length: 100 }, () => randomUUID()).join(' ')
  const transcript = Array.from({ length: 200 }, (_, at) => ({ role: 'customer' as const, text: `${text} ${at}`, at }))
  t.equal((await send('large', report({ transcript }))).status, 202)
  t.notMatch(await bytes('large'), /778000|hidden/)
  const shown = await eventually(async () => {
    const answer = await call('GET', '/user/call/large')
    return answer.status === 200 && answer
  })
  t.strictSame(shown.body.data.transcript, transcript)
})

t.test('what an engine appends stays as it is', async (t) => {
  const data = { call_id: 'of-engine', ...report() }
  await streams.append('call-of-engine', [{ id: randomUUID(), type: 'CallCompleted', data, metadata: {} }], noStream)
  t.strictSame(JSON.parse(await bytes('of-engine')), [data])
})

t.test('a call is under the key of who called or was called: without it nothing but what is plain can be read', async (t) => {
  t.equal((await send('outbound', report({ direction: 'outbound' }))).status, 202)
  t.equal(await personKeys.erase('1', said.from), true)
  t.match(await streams.read('call-sealed'),
    [{ type: 'CallErased', data: { call_id: 'sealed', status: 'completed' }, metadata: { was: 'CallCompleted' } }])
  t.match((await streams.read('call-outbound')).map(({ type, data }) => ({ type, data })), [{ type: 'CallCompleted', data: said }])
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0)
})
