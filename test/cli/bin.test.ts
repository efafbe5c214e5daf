// The launcher compiles a checkout whose sources are newer than what was compiled, and never runs what does not compile.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { bin, dataDir } from '../support/ringledger.js'

const checkout = dataDir(t)
const source = join(checkout, 'src/main.ts')
for (const folder of ['bin', 'src']) mkdirSync(join(checkout, folder))
copyFileSync(bin, join(checkout, 'bin/ringledger.js'))
symlinkSync(join(dirname(bin), '../node_modules'), join(checkout, 'node_modules'))
writeFileSync(join(checkout, 'package.json'), '{"type":"module"}')
writeFileSync(join(checkout, 'tsconfig.build.json'), JSON.stringify({
  compilerOptions: { rootDir: '.', outDir: 'dist', module: 'nodenext', target: 'es2023', strict: true, types: ['node'], skipLibCheck: true, incremental: true, tsBuildInfoFile: 'dist/.tsbuildinfo' },
  include: ['src']
}))

function ringledger (): { status: number | null, stdout: string, stderr: string } {
  return spawnSync('env', ['-i', `PATH=${process.env.PATH ?? ''}`, process.execPath, join(checkout, 'bin/ringledger.js')], { encoding: 'utf8' })
}

t.test('a fresh checkout is compiled first, and once', async (t) => {
  writeFileSync(source, 'console.log(\'first\')')
  t.match(ringledger(), { status: 0, stdout: 'first\n', stderr: /^Compiling/ })
  t.match(ringledger(), { status: 0, stdout: 'first\n', stderr: /^$/ })
})

t.test('sources that do not compile are not run, this time and the next', async (t) => {
  writeFileSync(source, 'const wrong: number = \'second\'; console.log(wrong)')
  for (const time of ['this time', 'the next']) {
    const { status, stdout, stderr } = ringledger()
    t.equal(status, 1, time)
    t.equal(stdout, '')
    t.match(stderr, /src\/main\.ts.*TS2322/)
    t.match(stderr, /The sources do not compile\.\n$/)
    t.notMatch(stderr, /^ +at /m)
  }
})

t.test('what was changed is compiled again', async (t) => {
  writeFileSync(source, 'console.log(\'third\')')
  t.match(ringledger(), { status: 0, stdout: 'third\n', stderr: /^Compiling/ })
})
