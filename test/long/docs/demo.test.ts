// `demo` shows the whole job, tells the truth with its exit status, and leaves nothing anywhere.
import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { dataDir, ringledger } from '../../support/ringledger.js'

function demo (t: Test) {
  const tmp = dataDir(t)
  return { tmp, running: ringledger(t, ['demo'], { TMPDIR: tmp }) }
}

t.test('it prints a timeline, exits 0, and nothing is left', async (t) => {
  const { tmp, running } = demo(t)
  const { code } = await running.ended
  t.equal(code, 0, running.stderr())
  t.equal(running.stderr(), '')
  const steps = ['start back ends', 'import the catalogue', 'start the service', 'create a campaign', 'add a phone number',
    'create an assistant', 'update it', 'create a lead', 'refuse it twice', 'put a number on the list', 'import three leads',
    'complete a call', 'first attempt', 'second attempt', 'verify the signature', 'stop']
  t.same([...running.stdout().matchAll(/^✓ +[\d.]+ s +\d+ ms {3}(.*?) {2,}/gm)].map(([, step]) => step), steps)
  t.match(running.stdout(), /3 leads of a CSV file; row 4 was refused: phone_number is on your do-not-call list/)
  t.match(running.stdout(), /Everything held, in \d+\.\d s\./)
  t.same(running.processes(), [])
  t.same(readdirSync(tmp), [])
})

t.test('Ctrl-C ends it soon, with exit status 1, and nothing is left', async (t) => {
  const { tmp, running } = demo(t)
  await running.says((stdout) => /first attempt/.exec(stdout) ?? undefined) // it waits for the second one
  running.signal('SIGINT')
  t.equal((await running.ended).code, 1)
  t.match(running.stderr(), /the demo was stopped before its end/)
  t.notMatch(running.stdout(), /Everything held/)
  t.same(running.processes(), [])
  t.same(readdirSync(tmp), [])
})
