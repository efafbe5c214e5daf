// In a small heap: more large bodies at once than it has room for.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { apiProcess, testService } from '../../support/service.js'

t.test('a process with a small heap outlives 500 large bodies at once, and answers others meanwhile', async (t) => {
  const service = await testService(t, ['projector'])
  const { call, process } = await apiProcess(t, service, { NODE_OPTIONS: '--max-old-space-size=160' })
  const large = JSON.stringify(newAssistant({ system_prompt: 'x'.repeat(500 * 1024) })) // once for all of them
  const sending = Array.from({ length: 500 }, () => call('POST', '/user/assistant', { body: large }))
  const token = await service.token('2')
  for (let n = 0; n < 5; n++) t.equal((await call('POST', '/user/assistant', { token, body: newAssistant() })).status, 201)
  const statuses = new Set((await Promise.all(sending)).map(({ status }) => status))
  t.ok(statuses.delete(201))
  t.strictSame([...statuses], [429])
  await eventually(async () => (await call('GET', '/health/ready')).status === 200)
  process.signal('SIGTERM')
  t.equal((await process.ended).code, 0)
})
