// Requests in the background whose workers are killed or frozen: each ends once.
import t from 'tap'
import { eventually } from '../../support/eventually.js'
import { mainProcess } from '../../support/ringledger.js'
import { workRig } from '../../support/workers/work-rig.js'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

t.test('a request whose worker is killed goes on with another one, after what was kept', async (t) => {
  const r = await workRig(t)
  const start = (name: string, diesAt = '') => mainProcess<{ step: number }>(
    t, new URL('./counting-main.js', import.meta.url), [r.databaseUrl, name, diesAt])
  const id = await r.ask(30)
  for (const diesAt of ['7', '20']) t.equal(await start(`dies at ${diesAt}`, diesAt).ended, 'SIGKILL')
  t.ok((await r.steps(id)).length < 30)
  start('lives')
  await r.ended(id)
  t.same(await r.steps(id), upTo(30), 'each step once')
})

t.test('of two workers one has a request; one that froze keeps nothing when it comes back', async (t) => {
  const r = await workRig(t)
  const frozen = mainProcess<{ step: number }>(
    t, new URL('./counting-main.js', import.meta.url), [r.databaseUrl, 'frozen'])
  const id = await r.ask(500)
  await eventually(() => frozen.said.length > 2)
  frozen.signal('SIGSTOP')
  r.start()
  await r.ended(id)
  frozen.signal('SIGCONT')
  const next = await r.ask(3)
  await r.ended(next)
  t.same(await r.steps(id), upTo(500), 'each step once')
})
