// One process runs file after file, and what goes wrong in one is told of that one.
import t from 'tap'
import { writtenFiles } from '../../support/run/written-files.js'

const passes = "t.test('passes', async (t) => { t.pass('as it should') })"

t.test('each file has a test of its own, which tears down before the next file', async (t) => {
  const { run, process } = writtenFiles(t)
  const first = await run(`
    t.teardown(() => { globalThis.undone = 'undone' })
    t.test('passes', async (t) => { t.pass(globalThis.undone) })`)
  t.match(first, /ok 1 - passes/)
  t.notMatch(first, /undone/)
  t.match(await run("t.test('later', async (t) => { t.pass(globalThis.undone) })"), /ok 1 - undone[^]+ok 1 - later/)
  t.equal(await process.end(), '')
})

t.test('a file that fails makes none of the others fail', async (t) => {
  const { run } = writtenFiles(t)
  t.match(await run("t.test('fails', async (t) => { t.fail('so it is') })"), /not ok 1 - so it is[^]+not ok 1 - fails/)
  t.match(await run("throw new Error('no file')"), /not ok 1 - no file/)
  t.notMatch(await run(passes), /not ok/)
})

t.test('--grep and --bail reach the tests of a file', async (t) => {
  const { run } = writtenFiles(t, { TAP_GREP: 'this', TAP_BAIL: '1' })
  const two = "t.test('this one', async (t) => { t.pass() }); t.test('other', async (t) => { t.fail() })"
  t.match(await run(two), /ok 1 - this one[^]+ok 2 - other # SKIP/)
  t.match(await run("t.test('this', async (t) => { t.fail('no') })"), /Bail out! no/)
})

t.test('a file may start tests without waiting for them, and several at once', async (t) => {
  const { run } = writtenFiles(t)
  const tap = await run(`
    t.jobs = 2
    let met
    const meeting = new Promise((resolve) => { met = resolve })
    t.test('waits', { buffered: true }, async (t) => { await meeting; t.pass() })
    t.test('comes', { buffered: true }, async (t) => { met(); t.pass() })`)
  t.match(tap, /ok 1 - waits[^]+ok 2 - comes[^]+1\.\.2/)
})

t.test('a file that takes too long is told with the test it was in, and its process runs no other', async (t) => {
  const { run, process } = writtenFiles(t)
  const hangs = "t.test('hangs', async () => { setInterval(() => {}, 10); await new Promise(() => {}) })"
  t.match(await run(hangs, 200), /not ok 1 - timeout![^]+not ok 1 - hangs/)
  t.notOk(process.isFit)
})

t.test('a file may ask for more time', async (t) => {
  const { run } = writtenFiles(t, {}, 0)
  await run(passes) // the process has started, and loaded what every file loads, before the time begins
  const slow = "t.setTimeout(9_000); t.test('slow', async () => { await new Promise((end) => setTimeout(end, 1_500)) })"
  t.notMatch(await run(slow, 1_000), /not ok|SIGKILL/)
})

t.test('a file that blocks its process is ended', async (t) => {
  const { run, process } = writtenFiles(t, {}, 500)
  t.match(await run("t.test('blocks', async () => { for (;;); })", 200), /Its process ended with SIGKILL/)
  t.notOk(process.isFit)
})

t.test('a file that ends its process is told, with what it reported before', async (t) => {
  const { run, process } = writtenFiles(t)
  const tap = await run(`${passes}\nt.test('ends', async () => { process.exit(0) })`)
  t.match(tap, /ok 1 - passes[^]+Its process ended with status 0/)
  t.notOk(process.isFit)
})

t.test('a file that waits for something that never comes fails at once', async (t) => {
  const { run } = writtenFiles(t)
  t.match(await run("t.test('waits', async () => { await new Promise(() => {}) })"), /not ok 1 - [^]*unfinished/)
  t.notMatch(await run(passes), /not ok/)
})

t.test('a file that leaves something open is told at the end', async (t) => {
  const { run, process } = writtenFiles(t)
  await run(passes)
  await run(`setInterval(() => {}, 10)\n${passes}`)
  const wrong = await process.end()
  t.match(wrong, /does not end/)
  t.match(wrong, /after 1\.test\.ts \{[^}]*\}; after 2\.test\.ts \{[^}]*"Timeout":1/)
  t.notMatch(wrong, /after 1\.test\.ts [^;]*Timeout/)
})

t.test('an error that nobody catches fails the test that runs, and no other', async (t) => {
  const { run, process } = writtenFiles(t)
  const thrown = "setImmediate(() => { throw new Error('thrown') }); await new Promise(() => {})"
  t.match(await run(`t.test('throws', async () => { ${thrown} })\n${passes}`),
    /not ok 1 - thrown[^]+not ok 1 - throws[^]+\n {4}ok 1 - as it should[^]+\nok 2 - passes/)
  const rejected = "void Promise.reject(new Error('rejected')); await new Promise(() => {})"
  t.match(await run(`${passes}\nt.test('rejects', async () => { ${rejected} })`),
    /\nok 1 - passes[^]+not ok 1 - rejected[^]+not ok 2 - rejects/)
  t.ok(process.isFit)
})

t.test('an error that comes after the end of its file is not lost', async (t) => {
  const { run, process } = writtenFiles(t)
  await run(`setTimeout(() => { process.stdout.write = () => true; throw new Error('late') }, 50)\n${passes}`)
  t.match(await process.end(), /ended with status [^0].* after 1\.test\.ts/)
})

t.test('what a file takes of the processor is told, with what it started; of the next file nothing of that', async (t) => {
  const { run, process } = writtenFiles(t)
  const works = 'const end = process.cpuUsage().user + 400_000; while (process.cpuUsage().user < end);'
  await run(`
    const { execFileSync } = await import('node:child_process')
    t.test('works', async (t) => { execFileSync(process.execPath, ['-e', ${JSON.stringify(works)}]); t.pass() })`)
  t.ok(process.cpuSeconds >= 0.4, `${process.cpuSeconds} s`)
  await run(passes)
  t.ok(process.cpuSeconds < 0.3, `${process.cpuSeconds} s`)
  t.equal(await process.end(), '')
})
