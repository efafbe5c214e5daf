// `demo` shows the whole job, tells the truth with its exit status, and leaves nothing anywhere.
import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { eventually } from '../../support/eventually.js'
import { dataDir, leftIn, ringledger, run } from '../../support/ringledger.js'

function demo (t: Test) {
  const tmp = dataDir(t)
  return { tmp, running: ringledger(t, ['demo'], { TMPDIR: tmp }) }
}

t.test('it prints a timeline, exits 0, and nothing is left', async (t) => {
  const { tmp, running } = demo(t)
  const { code, ms } = await running.ended
  t.equal(code, 0, running.stderr())
  t.equal(running.stderr(), '')
  const steps = ['start back ends', 'import the catalogue', 'start the service', 'create a campaign', 'add a phone number',
    'create an assistant', 'update it', 'create a lead', 'refuse it twice', 'put a number on the list', 'import three leads',
    'complete a call', 'first attempt', 'second attempt', 'verify the signature', 'stop']
  t.same([...running.stdout().matchAll(/^✓ +[\d.]+ s +\d+ ms {3}(.*?) {2,}/gm)].map(([, step]) => step), steps)
  t.match(running.stdout(), /3 leads of a CSV file; row 4 was refused: phone_number is on your do-not-call list/)
  t.match(running.stdout(), /Everything held, in \d+\.\d s\./)
  t.comment(`the demo took ${(ms / 1000).toFixed(1)} s`)
  t.same(running.processes(), [])
  t.same(leftIn(tmp), [])
})

t.test('for programs it prints one document, at its end', async (t) => {
  const { code, stdout, stderr } = await run(t, ['demo', '--json'], { TMPDIR: dataDir(t) })
  t.equal(code, 0, stderr)
  const { steps, ...all }: { held: boolean, seconds: number, steps: object[] } = JSON.parse(stdout)
  t.match(all, { held: true, seconds: Number })
  t.match(steps[0], { step: 'start back ends', where: 'embedded', ms: Number, held: true })
  t.equal(steps.length, 16)
})

t.test('Ctrl-C at any step ends it soon, with exit status 1, and nothing is left', async (t) => {
  const moments: Array<[string, (started: ReturnType<typeof demo>) => Promise<unknown>]> = [
    [
      'while the back ends start',
      ({ tmp, running }) => eventually(() => readdirSync(tmp).length > 0 && running.processes().length > 1)
    ],
    [
      'while it waits for the second attempt',
      ({ running }) => running.says((stdout) => /first attempt/.exec(stdout) ?? undefined)
    ]
  ]
  for (const [when, come] of moments) {
    const started = demo(t)
    await come(started)
    started.running.signal('SIGINT')
    t.equal((await started.running.ended).code, 1, when)
    t.match(started.running.stderr(), /the demo was stopped before its end/)
    t.notMatch(started.running.stdout(), /Everything held/)
    t.same(started.running.processes(), [], 'no process')
    t.same(leftIn(started.tmp), [], 'no file')
  }
})
