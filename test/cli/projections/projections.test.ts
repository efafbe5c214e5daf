// `ringledger projections` as an operator runs it, beside a projector.
import t, { type Test } from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { leads } from '../../../projections/leads.js'
import { eventually } from '../../support/eventually.js'
import { ringledger, runWarm } from '../../support/ringledger.js'
import { history, replayRig } from '../../support/replay/replay-rig.js'
import { secrets } from '../../support/auth/secrets.js'

const rig = await replayRig(t, { isSealed: true })
const db = await rig.database(t)
const env = { ...secrets, DATABASE_URL: db.databaseUrl, EVENTSTORE_URL: rig.eventStoreUrl }
const projections = (...args: string[]) => runWarm(['projections', ...args], env)

const projector = db.project(t, leads, assistants)
const head = await rig.append(history(20))
for (const projection of [leads, assistants]) await db.reached(projection, head)

interface Standing {
  projection: string
  generation: number
  state: string
  behind: string
  owner: string | null
  due: string | null
  verified: string | null
}

async function list (t: Test): Promise<Standing[]> {
  const { code, stdout, stderr } = await projections('list', '--json')
  t.equal(code, 0, stderr)
  return (JSON.parse(stdout) as Standing[]).filter(({ projection }) => projection === 'leads')
}

t.test('a dry run tells what a replay would do, and changes nothing', async (t) => {
  const { code, stdout } = await projections('replay', 'leads', '--dry-run')
  t.equal(code, 0)
  t.match(stdout, /Readers of leads see generation 1, folded by version \d+ of its code: 80 rows, \d+ MiB on disk/)
  t.match(stdout, /would build generation 2 .*\nIt would read about [1-9]\d* events/, '60, where it reads all of them within its two seconds')
  t.match(stdout, /Nothing was changed/)
  t.strictSame(await db.generations(leads), ['1 active'])
})

t.test('programs are told the same as JSON', async (t) => {
  const { code, stdout } = await projections('replay', 'leads', '--dry-run', '--json')
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { projection: 'leads', kind: 'begin', generation: 2, active: { generation: 1 }, from: '0', rows: 80 })
  for (const action of ['pause', 'verify', 'resume']) {
    const { code, stdout, stderr } = await projections(action, 'leads', '--json')
    t.equal(code, 0, stderr)
    t.match(JSON.parse(stdout), { action, projection: 'leads', state: 'done', message: /leads/ })
  }
  t.match(await projections('rollback', 'leads', '--json'), { code: 1, stdout: '', stderr: /leads/ })
})

t.test('replay, rollback and drop, each with what comes next', async (t) => {
  t.match(await projections('replay', 'leads'), {
    code: 0, stdout: '', stderr: /Replayed leads in .*; readers see generation 2 now.*projections rollback leads/
  })
  t.match(await list(t), [
    { generation: 1, state: 'retained', behind: '0', owner: /^projector /, due: null },
    { generation: 2, state: 'active', behind: '0', owner: /^projector /, due: null, verified: /^all rows of generation 1 at/ }
  ])
  t.match(await projections('rollback', 'leads'), { code: 0, stderr: /Readers of leads see generation 1 again. The former one is kept level for/ })
  t.match(await projections('drop', 'leads', '--generation', '1'), {
    code: 1, stderr: /Readers see generation 1 of leads/
  })
  t.match(await projections('drop', 'leads'), { code: 0, stderr: /Dropped of leads: generation 2/ })
  t.match(await projections('list'), { code: 0, stdout: /leads .* 1 .* active/ })
})

t.test('a replay that is stopped says how to go on; two at once are refused', async (t) => {
  await projector.stop()
  const blocker = await db.pool.connect() // holds up the build at its first row
  await blocker.query('BEGIN; LOCK TABLE ledger.skipped_events IN ACCESS EXCLUSIVE MODE')
  const first = ringledger(t, ['projections', 'replay', 'assistants'], env)
  await eventually(async () => (await db.pool.query(`
    SELECT FROM ledger.leases WHERE name = 'projection assistants g2'`)).rowCount === 1)
  const second = await projections('replay', 'assistants')
  t.match(second, { code: 1, stderr: /A replay of assistants is under way already, by .*: wait for its end/ })
  first.signal('SIGINT')
  await blocker.query('ROLLBACK')
  blocker.release()
  t.equal((await first.ended).code, 1)
  t.match(first.stderr(), /The replay was stopped; readers see what they saw. Run the same command again to go on/)
  t.match(await projections('replay', 'assistants'), {
    code: 0, stderr: /Generation 2 of assistants was begun earlier: going on with it.*Replayed assistants/s
  })
})
