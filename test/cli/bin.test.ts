// The launcher compiles a checkout with newer sources, and never runs sources that do not compile.
import { execFile, spawnSync } from 'node:child_process'
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { bin, dataDir } from '../support/ringledger.js'

const checkout = dataDir(t)
const source = join(checkout, 'src/main.ts')
for (const folder of ['bin', 'src']) mkdirSync(join(checkout, folder))
for (const name of ['ringledger.js', 'compile.js', 'build.js', 'console.js', 'programs.js', 'write.js']) {
  copyFileSync(join(dirname(bin), name), join(checkout, 'bin', name))
}
symlinkSync(join(dirname(bin), '../node_modules'), join(checkout, 'node_modules'))
writeFileSync(join(checkout, 'package.json'), '{"type":"module","engines":{"node":">=20.20.2"}}')
writeFileSync(join(checkout, 'tsconfig.json'), '{}')

const command = ['-i', `PATH=${process.env.PATH ?? ''}`, process.execPath, join(checkout, 'bin/ringledger.js')]

function ringledger (): { status: number | null, stdout: string, stderr: string } {
  return spawnSync('env', command, { encoding: 'utf8' })
}

t.test('a fresh checkout is compiled first, and once', async (t) => {
  writeFileSync(source, 'console.log(\'first\')')
  t.match(ringledger(), { status: 0, stdout: 'first\n', stderr: /^Compiling/ })
  t.match(ringledger(), { status: 0, stdout: 'first\n', stderr: /^$/ })
})

t.test('sources that do not compile are not run, this time and the next', async (t) => {
  writeFileSync(source, 'const wrong: = \'second\'; console.log(wrong)')
  for (const time of ['this time', 'the next']) {
    const { status, stdout, stderr } = ringledger()
    t.equal(status, 1, time)
    t.equal(stdout, '')
    t.match(stderr, /src\/main\.ts:1:\d+/)
    t.match(stderr, /The sources do not compile\.\n$/)
    t.notMatch(stderr, /^ +at /m)
  }
})

t.test('one of several commands that start at once compiles, and the others wait for it', async (t) => {
  writeFileSync(source, 'console.log(\'third\')')
  const ended = await Promise.all([1, 2, 3].map(() => promisify(execFile)('env', command)))
  t.same(ended.map(({ stdout }) => stdout), ['third\n', 'third\n', 'third\n'])
  t.equal(ended.filter(({ stderr }) => stderr.startsWith('Compiling')).length, 1)
})

t.test('a killed command\'s lock stops nobody; who reads a former module reads it all', async (t) => {
  const former = openSync(join(checkout, 'dist/programs/main.js'), 'r')
  t.teardown(() => { closeSync(former) })
  writeFileSync(join(checkout, 'dist/.compiling'), String(spawnSync('true').pid))
  writeFileSync(source, 'console.log(\'fourth\')')
  t.match(ringledger(), { status: 0, stdout: 'fourth\n', stderr: /^Compiling/ })
  t.match(readFileSync(former, 'utf8'), /third/)
})
