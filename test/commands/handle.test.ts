// Read, fold, decide, append, answer: against the real event store.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { findRequest } from '../../src/commands/person-requests.js'
import { assistantDecider } from '../../src/features/assistants/model.js'
import { personRequestStream } from '../../src/features/persons/events.js'
import { Rejection } from '../../src/domain/rejection.js'
import { eventId } from '../../src/log/stored.js'
import { noStream, EventLog } from '../../src/log/event-log.js'
import { createRequest, handleOn, leadRequest, updateRequest, watched } from '../support/commands/handle-on.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const { connection } = await scratchEventStore(t)
const streams = new EventLog(connection)

let lastId = 0
const newId = () => {
  lastId += 1
  return lastId
}

t.test('a new stream needs no read, and one append', async (t) => {
  const { observed, reads, appends } = watched(streams)
  const id = newId()
  const outcome = await handleOn(observed)(createRequest(id))
  t.match(outcome, { revision: 0n, state: { assistant_id: id } })
  t.strictSame(reads, [])
  t.equal(appends(), 1)
  t.equal((await streams.read(`assistant-${id}`))[0]?.position, outcome.position)
})

t.test('a stream that is known is not taken for a new one', async (t) => {
  const { observed, reads, appends } = watched(streams)
  const handle = handleOn(observed)
  const contact = randomUUID()
  await handle(leadRequest(newId(), contact))
  await t.rejects(handle(leadRequest(newId(), contact)), { code: 'invalid' })
  t.strictSame([reads, appends()], [[1n], 1])
})

t.test('a later command reads the tail of its stream only', async (t) => {
  const { observed, reads } = watched(streams)
  const handle = handleOn(observed)
  const id = newId()
  await handle(createRequest(id))
  await handle(updateRequest(id, { record_call: true }))
  await handleOn(streams)(updateRequest(id, { assistant_name: 'By another process' }))
  const { revision, state } = await handle(updateRequest(id, { filler_audios: true }))
  t.strictSame(reads, [1n, 2n])
  t.equal(revision, 3n)
  t.match(state, { settings: { record_call: true, assistant_name: 'By another process', filler_audios: true } })
})

t.test('metadata says who, why and in which shape; ids follow from the command', async (t) => {
  const [id, commandId] = [newId(), randomUUID()]
  await handleOn(streams)(createRequest(id, {}, commandId))
  const [stored] = await streams.read(`assistant-${id}`)
  t.equal(stored?.id, eventId(commandId, 0))
  t.strictSame(stored?.metadata, {
    $correlationId: 'correlation-1', $causationId: commandId, command_id: commandId, schema_version: '2', user_id: '1'
  })
})

t.test('an event over the limit is refused and nothing is written', async (t) => {
  const handle = handleOn(streams)
  const [id, other] = [newId(), newId()]
  const tooLarge = { name: 'Rejection', code: 'too-large' }
  await t.rejects(handle(createRequest(id, { system_prompt: 'x'.repeat(900 * 1024) })), tooLarge)
  await t.rejects(handle({ ...createRequest(id), aggregate: { ...assistantDecider, largestEvent: 100 } }), tooLarge)
  t.strictSame(await streams.read(`assistant-${id}`), [])
  await t.rejects(
    handle(createRequest(other, { system_prompt: 'é'.repeat(470_000) })), tooLarge, 'bytes are counted, not characters'
  )
  t.match(
    await handle(createRequest(other, { system_prompt: 'x'.repeat(890 * 1024) })),
    { revision: 0n },
    'just under the limit it fits'
  )
})

t.test('a stream with an event that cannot be read is an error, not a refusal', async (t) => {
  const id = newId()
  await streams.append(
    `assistant-${id}`,
    [{ id: randomUUID(), type: 'AssistantCreated', data: { assistant_id: id }, metadata: {} }],
    noStream
  )
  const failure: unknown = await handleOn(streams)(updateRequest(id, {})).catch((error: unknown) => error)
  t.match(failure, { name: 'DecodeError' })
  t.notOk(failure instanceof Rejection)
})

t.test('a retry whose event is in the log was handled, though a later event cannot be read', async (t) => {
  const [id, commandId] = [newId(), randomUUID()]
  const request = createRequest(id, {}, commandId)
  await handleOn(streams)(request)
  await streams.append(`assistant-${id}`, [{ id: randomUUID(), type: 'AssistantUpdated', data: { bad: 1 }, metadata: {} }], 0n)
  const again = { ...request, origin: { ...request.origin, isRetry: true } }
  t.match(await handleOn(streams)(again), { wasHandled: true, revision: 0n, state: { assistant_id: id } })
  const other = createRequest(id)
  await t.rejects(handleOn(streams)({ ...other, origin: { ...other.origin, isRetry: true } }), { name: 'DecodeError' })
})

t.test('what somebody appends to a request of a person, and nobody can read, says nothing of it', async (t) => {
  const id = randomUUID()
  const asked = { person_request_id: id, user_id: '1', type: 'export', number_digest: '0'.repeat(32), requested_at: new Date().toISOString() }
  await streams.append(personRequestStream(id), [
    { id: randomUUID(), type: 'PersonRequested', data: asked, metadata: {} },
    { id: randomUUID(), type: 'PersonRequestCompleted', data: { bad: 1 }, metadata: {} }
  ], noStream)
  t.match(await findRequest(streams, id), { request: { status: 'processing' } })
})
