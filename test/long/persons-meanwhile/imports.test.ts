// Imports with the number of a person who is erased meanwhile: whatever their worker had come to, the person is not
// there in the end, and everybody else is.
import t, { type Test } from 'tap'
import { openCommands } from '../../../src/services/commands.js'
import { leadImports } from '../../../workers/imports/lead-imports.js'
import { leadStream } from '../../../src/features/leads/events.js'
import type { Streams } from '../../../src/log/event-log.js'
import { openLogGuard } from '../../../src/recovery/log-guard.js'
import { runSubscription } from '../../../src/subscriptions/run.js'
import { giveTurn } from '../../../workers/work/run.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { eventually } from '../../support/eventually.js'
import { erasing } from '../../support/persons/erasing.js'
import { hasNothingOf } from '../../support/persons/persons.js'
import { imports, numberOf } from '../../support/scenes/scenes.js'
import { testService } from '../../support/service.js'

t.setTimeout(180_000)
const service = await testService(t) // no worker does anything by itself
const { call, config, parts } = service
const { pool, streams } = parts
const { sendJson, results, status } = imports(service)
const stopping = new AbortController()
t.teardown(() => stopping.abort())
const { signal } = stopping
const log = { debug () {}, info () {}, warn () {}, error () {} }
void runSubscription(dispatcher({ pool, firstDelayMs: 0, wake () {}, log }), { pool, streams, holder: 'test', signal, log })
const erase = erasing(service)

/** Turns of a worker whose appends of leads go through `append`. */
async function worker (append: Streams['append'] = streams.append) {
  const logGuard = openLogGuard({ ...parts, log })
  const given = { ...parts, streams: { ...streams, append }, config, logGuard }
  const kinds = { 'lead-import': leadImports({ ...given, ...await openCommands(given, 1), onRows () {} }) }
  return (id: string) => giveTurn({ pool, kinds, holder: 'test', turnMs: 60_000, retryMs: 0, signal, log }, id)
}

const variables = { customer_name: 'Ada Hidden', email: 'ada@hidden.example' }
let count = 0
/** A person, and another one of whom the person is a contact, between others. */
async function sent () {
  const [gone, ...others] = Array.from({ length: 4 }, () => numberOf(++count)) as [string, ...string[]]
  const [first, second, third] = others.map((phone_number) => ({ phone_number }))
  const person = { phone_number: gone, variables }
  const leads = [first, person, { ...second, secondary_contacts: [person] }, third]
  const { body: { data: { id } } } = await sendJson({ campaign_id: 1, leads })
  return { id, gone, others }
}

async function isDone (t: Test, { id, gone, others }: Awaited<ReturnType<typeof sent>>, outcomes: string[]) {
  t.match(await status(id), { status: 'completed', processed: 4 })
  const { data } = await results(id)
  t.strictSame(data.map(({ outcome }: { outcome: string }) => outcome), outcomes)
  await parts.positions.reached('leads', await streams.head(), 10_000)
  const { body: { data: leads } } = await call('GET', '/user/leads?per_page=100')
  const listed = new Set(leads.map(({ phone_number }: { phone_number: string }) => phone_number))
  const kept = outcomes[2] === 'created' ? others : [others[0], others[2]]
  t.strictSame(others.filter((number) => listed.has(number)), kept, 'nobody else is lost')
  t.notOk(listed.has(gone))
  await hasNothingOf(t, service, gone)
}

t.test('a part that was read, and not begun', async (t) => {
  const imported = await sent()
  const locker = await pool.connect()
  await locker.query('BEGIN')
  await locker.query('ALTER SEQUENCE ledger.lead_ids CACHE 1') // ids are taken between the two
  const turn = (await worker())(imported.id)
  await eventually(async () => (await pool.query(
    "SELECT FROM pg_locks WHERE NOT granted AND relation = 'ledger.lead_ids'::regclass")).rowCount)
  await erase(imported.gone)
  await locker.query('ROLLBACK')
  locker.release()
  await turn
  await isDone(t, imported, ['created', 'invalid', 'invalid', 'created'])
})

t.test('a part whose worker was killed after it had appended the person', async (t) => {
  const imported = await sent()
  const own = leadStream(1, parts.phoneHash(imported.gone))
  await (await worker(async (stream, events, expected) => {
    const appended = await streams.append(stream, events, expected)
    if (stream === own) throw new Error('the worker ends here')
    return appended
  }))(imported.id)
  t.match(await status(imported.id), { status: 'processing', processed: 0 })
  await erase(imported.gone, { waits: async () => { await (await worker())(imported.id) } })
  await isDone(t, imported, ['created', 'created', 'created', 'created'])
})
