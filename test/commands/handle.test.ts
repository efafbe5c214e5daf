// Read, fold, decide, append, answer: against the real event store. Commands of one stream at the same time, in one
// process and in several, and after a lost answer; a number that is deleted and created anew is a lead once. What is
// remembered of streams has a bound in bytes, and counts for nothing once the stream is another one; whole streams are
// read for one user a few at a time; and one whose metadata hides events decides nothing.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { assistantDecider } from '../../src/features/assistants/model.js'
import { Rejection } from '../../src/domain/rejection.js'
import { eventId } from '../../src/log/stored.js'
import { noStream, EventLog, type Streams } from '../../src/log/event-log.js'
import { createRequest, handleOn, leadRequest, updateRequest, watched } from '../support/commands/handle-on.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { commandHandler, StreamBusy, streamCache } from '../../src/commands/handle.js'
import { eventually } from '../support/eventually.js'
import { oneLeadDecider } from '../../src/features/leads/decide.js'
import { leadStream } from '../../src/features/leads/events.js'
import type { OneLeadState } from '../../src/features/leads/model.js'

const { client, connection } = await scratchEventStore(t)
const streams = new EventLog(connection)

let lastId = 10_000
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

t.test('an event over the limit, which counts bytes, is refused and nothing is written', async (t) => {
  const handle = handleOn(streams)
  const id = newId()
  const tooLarge = { name: 'Rejection', code: 'too-large' }
  await t.rejects(handle(createRequest(id, { system_prompt: 'é'.repeat(470_000) })), tooLarge)
  await t.rejects(handle({ ...createRequest(id), aggregate: { ...assistantDecider, largestEvent: 100 } }), tooLarge)
  t.strictSame(await streams.read(`assistant-${id}`), [])
  t.match(await handle(createRequest(id, { system_prompt: 'x'.repeat(890 * 1024) })), { revision: 0n }, 'just under it fits')
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

t.test('for a stranger a long stream costs one event, as one that is not there, or nothing where it is known', async (t) => {
  const id = newId()
  await handleOn(streams)(createRequest(id))
  for (let n = 0; n < 5; n++) await handleOn(streams)(updateRequest(id, { assistant_name: `Name ${n}` }))
  for (const [assistant, isKnown, wanted] of [[id, false, 1], [9_000_000, false, 1], [id, true, 0]] as const) {
    const { observed, reads } = watched(streams)
    let firsts = 0
    const read: Streams['read'] = async (stream, from, maxCount) => {
      firsts += maxCount === 1 ? 1 : 100
      return await streams.read(stream, from, maxCount)
    }
    const handle = handleOn({ ...observed, read })
    if (isKnown) await handle(updateRequest(id, {}))
    const [before, visits] = [firsts, reads.length]
    await t.rejects(handle(updateRequest(assistant, {}, undefined, '2')), { code: 'assistant-not-found' })
    t.strictSame([firsts - before, reads.length - visits], [wanted, 0])
  }
})

t.test('commands of one stream queue up inside a process: no conflict among them', async (t) => {
  const { observed, appends } = watched(streams)
  const handle = handleOn(observed)
  const id = newId()
  await handle(createRequest(id))
  await Promise.all(Array.from({ length: 20 }, (_, index) =>
    handle(updateRequest(id, { max_call_duration: 20 + index }))))
  t.equal(appends(), 21)
  const stored = await streams.read(`assistant-${id}`)
  t.strictSame(
    stored.slice(1).map(({ data }) => Reflect.get(Reflect.get(data as object, 'changes'), 'max_call_duration')),
    Array.from({ length: 20 }, (_, index) => 20 + index)
  )
})

t.test('a refused command does not hold up the ones behind it', async (t) => {
  const handle = handleOn(streams)
  const id = newId()
  const outcomes = await Promise.allSettled([
    handle(createRequest(id)), handle(updateRequest(id, { timezone: 'UTC' })),
    handle(updateRequest(id, { record_call: true }))
  ])
  t.strictSame(outcomes.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled'])
})

t.test('a command that stands already is the answer, wherever it is tried again', async (t) => {
  const [id, commandId] = [newId(), randomUUID()]
  const first = await handleOn(streams)(createRequest(id, {}, commandId))
  await handleOn(streams)(updateRequest(id, { record_call: true }))
  t.strictSame(await handleOn(streams)(createRequest(id, {}, commandId)), first)
  t.equal((await streams.read(`assistant-${id}`)).length, 2)
  const change = updateRequest(id, { record_call: false, status: 'inactive' })
  const { isAppended, ...changed } = await handleOn(streams)(change)
  await handleOn(streams)(updateRequest(id, { record_call: true }))
  t.strictSame([isAppended, changed.revision], [true, 3n], 'two events')
  t.strictSame(await handleOn(streams)(change), { ...changed, wasHandled: true })
})

t.test('a stream that others keep writing to is given up after five seconds, with nothing written', async (t) => {
  const id = newId()
  await handleOn(streams)(createRequest(id))
  const overtaken = handleOn(streams)
  let others = 0
  const now = Date.now
  Date.now = () => now() + others * 1_500
  t.teardown(() => { Date.now = now })
  const handle = handleOn({
    ...streams,
    async append (stream, events, expected) { // somebody is always faster, and each time 1.5 s are over
      others += 1
      await overtaken(updateRequest(id, { assistant_name: `Name ${others}` }))
      return await streams.append(stream, events, expected)
    }
  })
  await t.rejects(handle(updateRequest(id, { record_call: true })), StreamBusy)
  t.equal((await streams.read(`assistant-${id}`)).length, 1 + others)
  t.ok(others <= 4, `${others} were faster`)
})

const deleteRequest = (id: number, contact: string) => {
  const decider = oneLeadDecider(id)
  const command = { type: 'delete' as const, ids: [], userId: '1', now: '2026-02-01T12:00:00.000Z' }
  return {
    aggregate: decider,
    stream: leadStream(1, contact),
    decide: (state: OneLeadState) => decider.decide(command, state),
    origin: { commandId: randomUUID(), userId: '1', correlationId: 'correlation-1' }
  }
}

const typesOf = async (contact: string) => (await streams.read(leadStream(1, contact))).map(({ type }) => type)

t.test('deletions and creations from four processes at once never leave two leads', async (t) => {
  const contact = randomUUID()
  const processes = Array.from({ length: 4 }, () => handleOn(streams))
  for (let round = 0, id = 100; round < 5; round++) {
    await Promise.allSettled(processes.map((handle) => handle(leadRequest(++id, contact))))
    const ids = Array.from({ length: 4 }, (_, index) => id - index)
    await Promise.allSettled(processes.flatMap((handle) => [
      ...ids.map((each) => handle(deleteRequest(each, contact))), handle(leadRequest(++id, contact))
    ]))
    let live = 0
    for (const type of await typesOf(contact)) {
      live += type === 'LeadCreated' ? 1 : -1
      t.ok(live === 0 || live === 1, `${live} leads after ${type}`)
    }
    const [last] = (await streams.read(leadStream(1, contact))).filter(({ type }) => type === 'LeadCreated').slice(-1)
    const lastId = Number(Reflect.get(Object(last?.data), 'lead_id'))
    await processes[0]?.(deleteRequest(lastId, contact)).catch(() => {})
  }
})

t.test('a process remembers the leads of a contact and one of these leads apart', async (t) => {
  const contact = randomUUID()
  const handle = handleOn(streams)
  await handle(leadRequest(1, contact))
  await handle(leadRequest(2, contact, true))
  t.match(await handle(deleteRequest(2, contact)), { state: { id: 2, isDeleted: true } })
  await t.rejects(handle(leadRequest(3, contact)), { code: 'invalid' })
  t.match(await handle(deleteRequest(1, contact)), { state: { id: 1, isDeleted: true } })
  t.match(await handle(leadRequest(3, contact)), { state: { ids: [3], last: { id: 3 } } })
})

const folded = (text: string) => ({ state: { text }, revision: 0n, stateRevision: 0n, position: 1n })

t.test('the bytes of all states together have a bound; a state that is larger keeps nothing', (t) => {
  const cache = streamCache(10_000)
  for (const [stream, bytes] of [['a', 4_000], ['b', 4_000], ['a', 4_000], ['c', 4_000], ['d', 20_000]] as const) {
    cache.set(stream, folded('x'.repeat(bytes)))
    t.ok(cache.calculatedSize <= 10_000)
  }
  t.strictSame(['a', 'b', 'c', 'd'].map((stream) => cache.has(stream)), [true, false, true, false])
  t.end()
})

const ways = { deleted: 'deleteStream', 'deleted for good': 'tombstoneStream' } as const
for (const [way, method] of Object.entries(ways)) {
  t.test(`a stream that was ${way} is not there for any process, and is not brought back`, async (t) => {
    const [remembers, another] = [handleOn(streams), handleOn(streams)]
    const id = 1_000_000 + Object.keys(ways).indexOf(way)
    await remembers(createRequest(id))
    await client[method](`assistant-${id}`)
    for (const handle of [remembers, another]) {
      await t.rejects(handle(updateRequest(id, { record_call: true })), { code: 'assistant-not-found' })
    }
  })
}

const ids = Array.from({ length: 10 }, (_, index) => index + 1)
for (const id of ids) await handleOn(streams)(createRequest(id))

/** Reads that wait until they are let go. */
function held () {
  let begun = 0
  let letGo = () => {}
  const gone = new Promise<void>((resolve) => { letGo = resolve })
  const visit: Streams['visit'] = async (...args) => {
    begun += 1
    await gone
    return await streams.visit(...args)
  }
  return { streams: { ...streams, visit }, begun: () => begun, letGo }
}

t.test('three streams of a user that are not remembered are read at once, the others after them', async (t) => {
  const reads = held()
  const handle = commandHandler(reads.streams)
  const updating = ids.map((id) => handle(updateRequest(id, { record_call: true })))
  await eventually(() => reads.begun() === 3)
  const created = await handle(createRequest(1_000))
  t.equal(created.revision, 0n, 'a new stream is not read, and waits for none')
  t.equal(reads.begun(), 3)
  reads.letGo()
  await Promise.all(updating)
  t.equal(reads.begun(), ids.length)
})

t.test('an assistant that was truncated is not taken for one that is missing', async (t) => {
  const id = newId()
  await handleOn(streams)(createRequest(id))
  for (const record_call of [true, false]) await handleOn(streams)(updateRequest(id, { record_call }))
  for (const [metadata, named] of [[{ truncateBefore: 2 }, '$tb'], [{ truncateBefore: 7 }, '$tb'], [{ maxCount: 2 }, '$maxCount']] as const) {
    await client.setStreamMetadata(`assistant-${id}`, metadata)
    await t.rejects(handleOn(streams)(updateRequest(id, { record_call: true })), {
      name: 'StreamTruncated', message: new RegExp(`assistant-${id} lacks its earlier events, as its metadata has \\${named}`)
    })
  }
  await client.setStreamMetadata(`assistant-${id}`, {})
  t.match(await handleOn(streams)(updateRequest(id, { record_call: true })), { revision: 3n })
})

t.test('a stream that was deleted and written anew is not taken for a truncated one', async (t) => {
  const stream = `test-${randomUUID()}`
  const event = () => [{ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }]
  await streams.append(stream, event(), noStream)
  await client.deleteStream(stream)
  await streams.append(stream, event(), noStream)
  let seen = 0
  t.ok(await streams.visit(stream, 0n, () => { seen += 1 }))
  t.equal(seen, 1)
})
