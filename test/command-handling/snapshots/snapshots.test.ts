// A long stream is read from its snapshot on; a snapshot that is wrong, old or of another log changes nothing.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { commandHandler } from '../../../src/command-handling/handle-command.js'
import { snapshotsIn } from '../../../src/command-handling/snapshots/snapshots.js'
import { assistantStream } from '../../../src/domain/assistant/events.js'
import { fold } from '../../../src/domain/decider.js'
import { assistantDecider } from '../../../src/domain/assistant/decide.js'
import { assistantEventTypes, type AssistantEvent } from '../../../src/domain/assistant/events.js'
import { decode, currentVersion } from '../../../src/domain/events.js'
import { openStreams } from '../../../src/event-store/streams.js'
import { scratchEventStore } from '../../support/back-ends/scratch-event-store.js'
import { createRequest, updateRequest, watched } from '../../support/commands/handle-on.js'
import { eventually } from '../../support/eventually.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { fc } from '../../support/fuzz/property.js'

const streams = openStreams((await scratchEventStore(t)).connection)
const { pool } = await scratchLedger(t)
const snapshots = snapshotsIn(pool)
const stored = async (id: number) => (await pool.query<{ revision: string }>(
  'SELECT revision FROM ledger.stream_snapshots WHERE stream = $1', [assistantStream(id)])).rows[0]?.revision

/** Another process, and the revisions that it reads from. */
function process () {
  const { observed, reads } = watched(streams)
  return { handle: commandHandler(observed, undefined, snapshots).handle, reads }
}

type Change = Extract<AssistantEvent, { type: 'AssistantUpdated' }>['data']['changes']

/** An assistant that was changed so often. */
async function longAssistant (id: number, changes: Change[]): Promise<void> {
  await process().handle(createRequest(id))
  const at = new Date(0).toISOString()
  for (let from = 0; from < changes.length; from += 100) {
    const events = changes.slice(from, from + 100).map((each) => ({
      id: randomUUID(),
      type: 'AssistantUpdated',
      data: { assistant_id: id, user_id: '1', changes: each, updated_at: at },
      metadata: { schema_version: currentVersion('AssistantUpdated') }
    }))
    await streams.append(assistantStream(id), events, BigInt(from))
  }
}

async function foldedFromStart (id: number) {
  const events = (await streams.read(assistantStream(id))).flatMap((each) => decode(each) ?? [])
  const isOwn = (event: { type: string }): event is AssistantEvent =>
    assistantEventTypes.some((type) => type === event.type)
  return fold(assistantDecider, events.filter(isOwn))
}

const temperature = (n: number) => ({ llm_temperature: n % 11 / 10 })
const many = (count: number) => Array.from({ length: count }, (_, n) => temperature(n))

t.test('who has read a long stream keeps a snapshot, and the next process reads from there', async (t) => {
  await longAssistant(1, many(700))
  const first = await process().handle(updateRequest(1, { record_call: true }))
  await eventually(async () => await stored(1) === '700')
  const { handle, reads } = process()
  const second = await handle(updateRequest(1, { record_call: false }))
  t.strictSame(reads, [0n, 701n])
  t.equal(second.revision, 702n)
  t.strictSame(second.state, await foldedFromStart(1))
  t.match(first.state, { settings: { record_call: true } })
})

t.test('who goes on appending keeps the next one', async (t) => {
  await longAssistant(2, many(499))
  await process().handle(updateRequest(2, { record_call: true }))
  await eventually(async () => await stored(2) === '500')
  const kept = await snapshots.find(assistantStream(2), assistantDecider.foldVersion ?? 0)
  t.strictSame(kept?.folded.state, await foldedFromStart(2))
})

t.test('a short stream has none, and nobody asks', async () => {
  await longAssistant(3, many(20))
  const asked = { find: async () => { throw new Error('asked') }, keep: () => { throw new Error('kept') } }
  await commandHandler(streams, undefined, asked).handle(updateRequest(3, { record_call: true }))
})

t.test('a snapshot of another fold, of another log or ahead of the log counts for nothing', async (t) => {
  await longAssistant(4, many(600))
  await process().handle(updateRequest(4, { record_call: true }))
  await eventually(async () => await stored(4) === '600')
  const planted = 'state = \'{"user_id":"1","settings":{"record_call":true}}\', '
  for (const lie of ["event_id = 'another'", 'fold_version = 7', 'revision = 9000', 'revision = 599']) {
    await pool.query(`UPDATE ledger.stream_snapshots SET ${planted}${lie} WHERE stream = $1`, [assistantStream(4)])
    const { handle, reads } = process()
    const { state } = await handle(updateRequest(4, { filler_audios: true }))
    t.strictSame(reads, [0n, 200n], lie)
    t.strictSame(state, await foldedFromStart(4), lie)
    await eventually(async () => Number(await stored(4)) > 600 && Number(await stored(4)) < 9_000)
  }
})

t.test('a retry reads everything, as one of the events may be its own', async (t) => {
  await longAssistant(5, many(520))
  const commandId = randomUUID()
  await process().handle(updateRequest(5, { record_call: false, speech_speed: 0.8 }, commandId))
  await process().handle(updateRequest(5, { speech_speed: 0.9 }))
  await eventually(async () => await stored(5) !== undefined)
  const request = updateRequest(5, { record_call: false, speech_speed: 0.8 }, commandId)
  const again = await process().handle({ ...request, origin: { ...request.origin, isRetry: true } })
  t.equal(again.wasHandled, true)
  t.equal(again.revision, 521n)
})

t.test('without the ledger, streams are read as before', async (t) => {
  await longAssistant(6, many(510))
  const away = { find: async () => { throw new Error('no ledger') }, keep: () => {} }
  const { state } = await commandHandler(streams, undefined, away).handle(updateRequest(6, { record_call: true }))
  t.strictSame(state, await foldedFromStart(6))
})

t.test('property: folded from a snapshot is folded from the start', async (t) => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })
  const change = fc.record<Change>({
    assistant_name: text,
    system_prompt: text,
    llm_temperature: fc.constantFrom(0, 0.1, 1),
    variables: fc.dictionary(fc.string({ maxLength: 5 }).filter((key) => key !== '__proto__'), fc.string())
  }, { requiredKeys: [] })
  let id = 100
  const changes = fc.array(change, { minLength: 1, maxLength: 10 })
  await fc.assert(fc.asyncProperty(changes, fc.nat(60), async (changes, more) => {
    id += 1
    const all = Array.from({ length: 505 + more }, (_, n) => changes[n % changes.length] ?? {})
    await longAssistant(id, all)
    await process().handle(updateRequest(id, { record_call: true }))
    await eventually(async () => await stored(id) !== undefined)
    const { state } = await process().handle(updateRequest(id, { record_call: false }))
    t.strictSame(state, await foldedFromStart(id))
  }), { numRuns: 4 })
})
