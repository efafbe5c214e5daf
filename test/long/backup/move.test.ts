// From the embedded event store to another one, as docs/embedded-event-store.md says: nothing lost, nothing sent twice.
import { join } from 'node:path'
import { jsonEvent } from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { callReport, newAssistant } from '../../support/bodies/bodies.js'
import { eventually } from '../../support/eventually.js'
import { receiver } from '../../support/receivers/receiver.js'
import { run } from '../../support/ringledger.js'
import { eventStoreOf, localWebhooks, startService, type RunningService } from '../../support/running-service.js'
import { connect, scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { scratchPostgres } from '../../support/back-ends/back-ends.js'
import { secrets } from '../../support/auth/secrets.js'

const postgres = await scratchPostgres(t)
const { store: target } = await scratchEventStore(t, { postgres, schema: 'moved' })
const hook = await receiver(t, (response) => response.writeHead(204).end())
const env = { ...secrets, ...localWebhooks, DATABASE_URL: postgres.url }

const delivered = () =>
  hook.received.map(({ body }) => (JSON.parse(body.toString()) as { data: { call_id: string } }).data.call_id)

async function complete (service: RunningService, callId: string, assistant: number): Promise<void> {
  await service.call('POST', `/engine/calls/${callId}/completed`, {
    token: await service.token('engine', 'engine'), body: callReport(assistant)
  })
  await eventually(() => delivered().includes(callId))
}

async function copy (t: Test, operator: Record<string, string>) {
  const { code, stdout, stderr } = await run(t, ['events', 'copy', '--to', target.url, '--json'], operator)
  t.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

t.test('a log is moved while the service runs, the tail while it is stopped, and it goes on there', async (t) => {
  const before = await startService(t, { env })
  // What stays behind makes positions in the target smaller: keeping the old ones would pass over events there.
  await connect(t, eventStoreOf(before.dataDir))
    .appendToStream('$noise', Array.from({ length: 50 }, () => jsonEvent({ type: '$Noise', data: {} })))
  const user = await before.token('1')
  const assistant = (await before.call('POST', '/user/assistant', {
    token: user, body: newAssistant({ is_webhook_active: true, webhook_url: hook.url })
  })).body.data?.id ?? 0
  await complete(before, 'first', assistant)

  const operator = { DATA_DIR: before.dataDir, DATABASE_URL: postgres.url }
  const bulk = await copy(t, operator)
  const exported = await run(t, ['events', 'export', join(before.dataDir, 'log.jsonl')], operator)
  t.match(exported.stderr, bulk.sha256, 'an export of the running service has the same hash')
  await complete(before, 'second', assistant)
  const summary = (await before.call('GET', `/user/assistant/${assistant}`, { token: user })).body
  await before.stop()

  const tail = await copy(t, operator)
  t.match(tail, {
    events: bulk.events + 2, appended: 2, source_moved_on: false
  }, 'the call, and the marker of the stop')
  t.ok(Number(tail.position.target) < Number(tail.position.source) - 40)

  const moved = { ...env, DATA_DIR: before.dataDir, EVENTSTORE_URL: target.url }
  t.match(await run(t, ['start'], { ...moved, PORT: '0' }), {
    code: 1, stderr: /"msg":"The events stand at other positions.* run `ringledger events adopt`/
  })
  t.equal((await run(t, ['events', 'adopt'], moved)).code, 0)
  const after = await startService(t, { dataDir: before.dataDir, env: { ...env, EVENTSTORE_URL: target.url } })
  await complete(after, 'third', assistant)
  const found = await eventually(async () => {
    const answer = await after.call('GET', `/user/assistant/${assistant}`, { token: user })
    return answer.status === 200 && answer.body
  })
  t.same(found, summary, 'the read models were rebuilt from the new log')
  t.same(delivered(), ['first', 'second', 'third'], 'each call was delivered once')
})
