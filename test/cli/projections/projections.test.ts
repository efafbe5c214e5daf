// `ringledger projections` and its `quarantine`, as an operator runs them beside a projector.
import t, { type Test } from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { leads } from '../../../projections/leads.js'
import { noStream } from '../../../src/log/event-log.js'
import { eventually } from '../../support/eventually.js'
import { assistantCreated, assistantUpdated, proposed } from '../../support/events/call-events.js'
import { runWarm } from '../../support/ringledger.js'
import { history, replayRig } from '../../support/replay/replay-rig.js'
import { secrets } from '../../support/auth/secrets.js'

const rig = await replayRig(t, { isSealed: true })
const db = await rig.database(t)
const env = { ...secrets, DATABASE_URL: db.databaseUrl, EVENTSTORE_URL: rig.eventStoreUrl }
const projections = (...args: string[]) => runWarm(['projections', ...args], env)

db.project(t, leads, assistants)
const head = await rig.append(history(20))
for (const projection of [leads, assistants]) await db.reached(projection, head)

t.test('a dry run tells what a replay would do, and changes nothing', async (t) => {
  t.match(await projections('replay', 'leads', '--dry-run'), { code: 0, stdout: /would build generation 2 [^]*Nothing was changed/ })
  const { stdout } = await projections('replay', 'leads', '--dry-run', '--json')
  t.match(JSON.parse(stdout), { projection: 'leads', kind: 'begin', generation: 2, active: { generation: 1 }, from: '0', rows: 80 })
  t.strictSame(await db.generations(leads), ['1 active'])
})

t.test('pause, verify and resume say in JSON what they did', async (t) => {
  for (const action of ['pause', 'verify', 'resume']) {
    const { code, stdout, stderr } = await projections(action, 'leads', '--json')
    t.equal(code, 0, stderr)
    t.match(JSON.parse(stdout), { action, projection: 'leads', state: 'done', message: /leads/ })
  }
})

t.test('replay, rollback and drop, each with what comes next', async (t) => {
  t.match(await projections('replay', 'leads'), {
    code: 0, stdout: '', stderr: /Replayed leads in .*; readers see generation 2 now.*projections rollback leads/
  })
  const standing: object[] = JSON.parse((await projections('list', '--json')).stdout)
  t.match(standing.filter((each) => 'projection' in each && each.projection === 'leads'), [
    { generation: 1, state: 'retained', behind: '0', owner: /^projector /, due: null },
    { generation: 2, state: 'active', behind: '0', owner: /^projector /, due: null, verified: /^all rows of generation 1 at/ }
  ])
  t.match(await projections('rollback', 'leads'), { code: 0, stderr: /Readers of leads see generation 1 again. The former one is kept level for/ })
  t.match(await projections('drop', 'leads'), { code: 0, stderr: /Dropped of leads: generation 2/ })
})

const quarantine = (...args: string[]) => runWarm(['projections', 'quarantine', ...args], env)

const stream = 'assistant-700'
const told = [
  assistantCreated(700), { type: 'AssistantUpdated', data: { nonsense: '\u001b[31mred\u009b' } },
  assistantUpdated(700, { assistant_name: 'Later' })
]
async function refused (t: Test, wanted: RegExp, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await quarantine(...args)
  t.equal(code, 1)
  t.match(stderr, wanted)
  t.notMatch(stderr, /^ +at /m, 'no stack')
  t.equal(stdout, '')
}

t.test('quarantine lists what waits, for people and for programs', async (t) => {
  await rig.streams.append(stream, told.map(proposed), noStream)
  await eventually(async () => (await db.pool.query(`
    SELECT FROM ledger.parked_events WHERE consumer = 'read_assistants_g1'`)).rowCount === 2)
  const [{ stdout: table }, { stdout: json }] =
    await Promise.all([quarantine('list'), quarantine('list', 'assistants', '--json')])
  t.match(table, /assistants .* assistant-700 .* 2 .*AssistantUpdated at assistant-700@1/)
  t.match(JSON.parse(json), {
    parked: [{ projection: 'assistants', generation: 1, stream, events: 2, revision: '1' }], breakers: [], skipped: []
  })
})

t.test('quarantine shows an event as the log has it, and no control character of it reaches the terminal', async (t) => {
  const { stdout, stderr } = await quarantine('show', 'assistants', stream)
  t.match(stderr, /assistants \(generation 1\) has parked 2 events of assistant-700/)
  t.match(JSON.parse(stdout), { stream, revision: '1', type: 'AssistantUpdated', data: { nonsense: '\u001b[31mred\u009b' } })
  t.notMatch(stdout, /[^\P{C}\n]/u)
})

t.test('quarantine refuses what cannot be done, and says why', async (t) => {
  await Promise.all([
    refused(t, /there is no projection nothing: choose one of assistants, leads, calls, /, 'retry', 'nothing', stream),
    refused(t, /assistants has not parked assistant-·2/, 'show', 'assistants', 'assistant-\u009b2'),
    refused(t, /assistant-700 stays parked, as it was: AssistantUpdated at assistant-700@1/, 'retry', 'assistants', stream),
    refused(t, /the log has no event assistant-700@9/, 'skip', 'assistants', stream, '9', '--reason', 'why'),
    refused(t, /assistants does not stand still/, 'resume', 'assistants')
  ])
})

t.test('quarantine skips an event with a reason, and the stream goes on', async (t) => {
  const { code, stderr } = await quarantine('skip', 'assistants', stream, '1', '--reason', 'a test wrote it')
  t.equal(code, 0)
  t.match(stderr, /assistants skips assistant-700@1 from now on, in rebuilds too\. No event of the stream is parked any more/)
  t.match((await db.pool.query('SELECT name FROM read_model.assistants WHERE id = 700')).rows, [{ name: 'Later' }])
  const { stdout } = await quarantine('list', '--json')
  t.match(JSON.parse(stdout), {
    parked: [], skipped: [{ projection: 'assistants', stream, revision: '1', reason: 'a test wrote it' }]
  })
})

t.test('the same commands list and skip what the dispatcher has parked', async (t) => {
  const parked = 'assistant-77'
  const event = proposed({ type: 'AssistantUpdated', data: { nonsense: true } })
  const { position } = await rig.streams.append(parked, [event], noStream)
  await db.pool.query(`
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
    VALUES ('dispatcher', $1, 0, $2, 'AssistantUpdated', 'malformed')`, [parked, position])
  t.match(JSON.parse((await quarantine('list', 'dispatcher', '--json')).stdout), {
    parked: [{ projection: 'dispatcher', stream: parked, events: 1, revision: '0' }]
  })
  const { code, stdout: told, stderr: said } =
    await quarantine('skip', 'dispatcher', parked, '0', '--reason', 'a test wrote it', '--json')
  t.equal(code, 0, said)
  t.match(JSON.parse(told), {
    action: 'skip', projection: 'dispatcher', stream: parked, revision: '0', state: 'done', message: /goes on without/
  })
})
