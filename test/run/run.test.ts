// What a run of tests says of files that fail, hang or leave something open, and of names that lead nowhere.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'
import { mostMinutes, parts } from '../long/parts.js'
import { everySource, filesOf, isLong } from './files.js'

const ownTest = new URL('./own-test.js', import.meta.url).href

function runOf (...args: string[]) {
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('a run names files that fail, hang or leave something open, and fails; the other files pass', async (t) => {
  const contents = {
    passes: "t.test('passes', async (t) => { t.pass() })",
    fails: "t.test('fails', async (t) => { t.equal(1, 2, 'as it must') })",
    waits: "t.test('waits', async () => { await new Promise(() => {}) })",
    throws: "t.test('throws', async () => { setTimeout(() => { throw new Error('thrown late') }); await new Promise(() => {}) })",
    hangs: "t.test('hangs', async () => { setInterval(() => {}, 10); await new Promise(() => {}) })",
    ends: 'process.exit(0)',
    leaks: "setInterval(() => {}, 10); t.test('leaks', async (t) => { t.pass() })",
    works: "t.test('works', async (t) => { t.pass() })"
  }
  const folder = t.testdir()
  const names = Object.keys(contents).map((name) => join(folder, `${name}.mjs`).slice(packageRoot.length + 1))
  for (const [name, text] of Object.entries(contents)) {
    writeFileSync(join(folder, `${name}.mjs`), `import t from '${ownTest}'\n${text}`)
  }
  const { status, stdout, stderr } = runOf('--jobs', '1', '--timeout', '2', ...names)
  t.equal(status, 1)
  for (const name of ['passes', 'leaks', 'works']) t.match(stdout, new RegExp(`^ {4}ok .*${name}\\.mjs$`, 'm'))
  for (const name of ['fails', 'waits', 'throws', 'hangs', 'ends']) t.match(stdout, new RegExp(`^NOT OK .*${name}\\.mjs`, 'm'))
  for (const text of ['not ok 1 - as it must', 'thrown late', 'not ok 1 - timeout!', 'ended with status 0']) t.match(stdout, text)
  t.match(stdout, /^8 files, \d+ assertions: \d+ passed, [1-9]\d* failed/m)
  t.match(stderr, /^Left open: .*Timeout.* after \S+\/leaks\.mjs$/m)
})

t.test('a name that leads nowhere is refused', async (t) => {
  t.throws(() => filesOf(['test/nowhere.test.ts']), { message: 'There is no test in test/nowhere.test.ts' })
})

t.test('each long test is in a part, which guards sources that exist and keeps to its time', async (t) => {
  const long = new Set(parts.flatMap(({ files = [] }) => filesOf(files)).map(({ source }) => source))
  t.strictSame(everySource().filter((source) => isLong(source) && !long.has(source)), [])
  for (const { name, guards, minutes } of parts) {
    t.ok(minutes <= mostMinutes.ofOne, name)
    t.strictSame(guards.filter((guard) => !existsSync(join(packageRoot, guard))), [], name)
  }
  t.ok(parts.reduce((sum, { minutes }) => sum + minutes, 0) <= mostMinutes.ofAll)
  const ofOtherNodes = readFileSync(join(packageRoot, 'test/long/other-nodes.sh'), 'utf8').match(/\S+\.test\.ts$/gm) ?? []
  t.equal(filesOf(ofOtherNodes).length, ofOtherNodes.length, 'what other Nodes run is there')
})
