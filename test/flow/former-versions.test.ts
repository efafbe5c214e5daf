// What an earlier release wrote is read, changed and sent like what this one writes; so is what engines still write.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { currentVersion } from '../../src/domain/events.js'
import { noStream } from '../../src/log/event-log.js'
import { callReport } from '../support/bodies/bodies.js'
import { eventually } from '../support/eventually.js'
import { golden } from '../support/events/golden.js'
import { receiver } from '../support/receivers/receiver.js'
import { newAssistant, testService } from '../support/service.js'

const { call, parts: { streams, pool } } = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_SCHEDULE: '0s', WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8'
})
const formerId = 900

/** Appends what a former release wrote; the event store cannot tell it from that. */
async function appendFormer (
  stream: string, type: string, version: string, data: object, metadata: Record<string, string>
): Promise<string> {
  const { position } = await streams.append(
    stream, [{ id: randomUUID(), type, data: { ...golden(type, version).data, ...data }, metadata }], noStream
  )
  return String(position)
}

const read = async (path: string, position: string) =>
  (await call('GET', path, undefined, { headers: { 'x-read-position': position } })).body.data

t.test('an assistant of version 1 is read, listed and changed like one of today', async (t) => {
  const position = await appendFormer(
    `assistant-${formerId}`, 'AssistantCreated', '1', { assistant_id: formerId, user_id: '1' }, { schema_version: '1' }
  )
  const { body: { data: { id } } } = await call('POST', '/user/assistant', newAssistant)
  const [written] = await streams.read(`assistant-${id}`)
  t.match(written, { metadata: { schema_version: currentVersion('AssistantCreated') }, data: { status: 'active' } })
  const [former, present] = [
    await read(`/user/assistant/${formerId}`, position), await read(`/user/assistant/${id}`, position)
  ]
  t.same(Object.keys(former).sort(), Object.keys(present).sort())
  t.match(former, { status: 'active', settings: golden('AssistantCreated', '1').data.settings })

  const renamed = await call('PUT', `/user/assistant/${formerId}`, { assistant_name: 'Renamed' })
  t.match(renamed, { status: 200, body: { data: { id: formerId, name: 'Renamed', status: 'active' } } })
  t.match(await read(`/user/assistant/${formerId}/history`, position), [
    { revision: 1 }, { revision: 0, event: 'AssistantCreated' }
  ])
  const listed: { id: number }[] = await read('/user/assistants?status=active', position)
  t.same(listed.map((each) => each.id).sort(), [id, formerId].sort())
})

t.test('a call without a version is sent and read, for an assistant of either version', async (t) => {
  const hook = await receiver(t)
  const { body: { data: { id } } } = await call('POST', '/user/assistant', newAssistant)
  for (const assistantId of [formerId, id]) {
    await call('PUT', `/user/assistant/${assistantId}`, { is_webhook_active: true, webhook_url: hook.url })
    const call_id = `of-${assistantId}`
    const position =
      await appendFormer(`call-${call_id}`, 'CallCompleted', '1', { call_id, ...callReport(assistantId) }, {})
    t.match(await read(`/user/call/${call_id}`, position), { call_id, assistant_id: assistantId, status: 'completed' })
  }
  await eventually(() => hook.received.length === 2)
  t.equal((await pool.query('SELECT FROM ledger.parked_events')).rowCount, 0)
})
