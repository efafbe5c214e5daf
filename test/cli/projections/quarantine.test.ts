// `ringledger projections quarantine` as an operator runs it: what waits, an event, and refusals that say why.
import t, { type Test } from 'tap'
import { noStream } from '../../../src/log/event-log.js'
import { assistantCreated, assistantUpdated, proposed } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { dataDir, runWarm } from '../../support/ringledger.js'
import { testService } from '../../support/service.js'
import { secrets } from '../../support/auth/secrets.js'

const { parts: { pool, streams }, urls } = await testService(t, ['projector'])
const env = { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl, DATA_DIR: dataDir(t) }
const quarantine = (...args: string[]) => runWarm(['projections', 'quarantine', ...args], env)

const stream = 'assistant-1'
const told = [
  assistantCreated(1), { type: 'AssistantUpdated', data: { nonsense: '\u001b[31mred\u009b' } },
  assistantUpdated(1, { assistant_name: 'Later' })
]
await streams.append(stream, told.map(proposed), noStream)
await eventually(async () => (await pool.query(`
  SELECT FROM ledger.parked_events WHERE consumer = 'read_assistants_g1'`)).rowCount === 2)

async function refused (t: Test, wanted: RegExp, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await quarantine(...args)
  t.equal(code, 1)
  t.match(stderr, wanted)
  t.notMatch(stderr, /^ +at /m, 'no stack')
  t.equal(stdout, '')
}

t.test('what waits is listed, for people and for programs', async (t) => {
  const [{ stdout: table }, { stdout: json }] =
    await Promise.all([quarantine('list'), quarantine('list', 'assistants', '--json')])
  t.match(table, /assistants .* assistant-1 .* 2 .*AssistantUpdated at assistant-1@1/)
  t.match(JSON.parse(json), {
    parked: [{ projection: 'assistants', generation: 1, stream, events: 2, revision: '1' }], breakers: [], skipped: []
  })
})

t.test('an event is shown as the log has it, and cannot write to the terminal as it likes', async (t) => {
  const { stdout, stderr } = await quarantine('show', 'assistants', stream)
  t.match(stderr, /assistants \(generation 1\) has parked 2 events of assistant-1/)
  t.match(JSON.parse(stdout), { stream, revision: '1', type: 'AssistantUpdated', data: { nonsense: '\u001b[31mred\u009b' } })
  t.notMatch(stdout, /[^\P{C}\n]/u)
})

t.test('what cannot be done is refused, and says why', async (t) => {
  await Promise.all([
    refused(t, /there is no projection nothing: choose one of assistants, leads, calls, /, 'retry', 'nothing', stream),
    refused(t, /assistants has not parked assistant-·2/, 'show', 'assistants', 'assistant-\u009b2'),
    refused(t, /assistant-1 stays parked, as it was: AssistantUpdated at assistant-1@1/, 'retry', 'assistants', stream),
    refused(t, /the log has no event assistant-1@9/, 'skip', 'assistants', stream, '9', '--reason', 'why'),
    refused(t, /required option '--reason <text>' not specified/, 'skip', 'assistants', stream, '1'),
    refused(t, /must be a revision, such as 0/, 'skip', 'assistants', stream, '-1', '--reason', 'why'),
    refused(t, /assistants does not stand still/, 'resume', 'assistants')
  ])
})

t.test('an event is skipped with its reason, and its stream goes on', async (t) => {
  t.match(await quarantine('skip', 'assistants', stream, '1', '--reason', ' '), {
    code: 1, stderr: /--reason.*must be a text of 1 to 200 characters/
  })
  const { code, stderr } = await quarantine('skip', 'assistants', stream, '1', '--reason', 'a test wrote it')
  t.equal(code, 0)
  t.match(stderr, /assistants skips assistant-1@1 from now on, in rebuilds too\. No event of the stream is parked any more/)
  t.match((await pool.query('SELECT name FROM read_model.assistants WHERE id = 1')).rows, [{ name: 'Later' }])
  const { stdout } = await quarantine('list', '--json')
  t.match(JSON.parse(stdout), {
    parked: [], skipped: [{ projection: 'assistants', stream, revision: '1', reason: 'a test wrote it' }]
  })
})

t.test('what the dispatcher has parked is listed, shown, retried and skipped by the same commands', async (t) => {
  const parked = 'assistant-77'
  const event = proposed({ type: 'AssistantUpdated', data: { nonsense: true } })
  const { position } = await streams.append(parked, [event], noStream)
  await pool.query(`
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
    VALUES ('dispatcher', $1, 0, $2, 'AssistantUpdated', 'malformed')`, [parked, position])
  t.match(JSON.parse((await quarantine('list', 'dispatcher', '--json')).stdout), {
    parked: [{ projection: 'dispatcher', stream: parked, events: 1, revision: '0' }]
  })
  const { stdout, stderr } = await quarantine('show', 'dispatcher', parked)
  t.match(stderr, /dispatcher has parked 1 events? of assistant-77/)
  t.match(JSON.parse(stdout), { stream: parked, revision: '0', data: { nonsense: true } })
  await refused(t, /assistant-77 stays parked/, 'retry', 'dispatcher', parked)
  const { code, stdout: told, stderr: said } =
    await quarantine('skip', 'dispatcher', parked, '0', '--reason', 'a test wrote it', '--json')
  t.equal(code, 0, said)
  t.match(JSON.parse(told), {
    action: 'skip', projection: 'dispatcher', stream: parked, revision: '0', state: 'done', message: /goes on without/
  })
  t.match(JSON.parse((await quarantine('list', 'dispatcher', '--json')).stdout), {
    parked: [], skipped: [{ projection: 'dispatcher', stream: parked, reason: 'a test wrote it' }]
  })
})
