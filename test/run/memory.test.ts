// Where a run keeps its temporary files.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { eventually } from '../support/eventually.js'

const program = `
  const { keepFilesInMemory } = await import(${JSON.stringify(new URL('./memory.js', import.meta.url).href)})
  keepFilesInMemory()
  ;(await import('node:fs')).writeFileSync((await import('node:os')).tmpdir() + '/kept-by-a-test', '')
  process.stdout.write(process.env.TMPDIR ?? '')
  if (process.env.DIES) process.kill(process.pid, 'SIGKILL')`

function folderOf (env: NodeJS.ProcessEnv): string {
  const args = ['-i', `PATH=${process.env.PATH}`, ...Object.entries(env).map((entry) => entry.join('='))]
  return spawnSync('env', [...args, process.execPath, '--input-type=module', '-e', program], { encoding: 'utf8' }).stdout
}

t.test('its folder goes with it, or with the next run', async (t) => {
  const folder = folderOf({})
  if (folder === '') {
    t.pass('this machine has no room in memory')
    return
  }
  t.match(folder, /^\/dev\/shm\/ringledger-tests-\d+-/)
  t.notOk(existsSync(folder))
  const left = folderOf({ DIES: '1' })
  t.ok(existsSync(left))
  folderOf({})
  t.notOk(existsSync(left))
})

t.test('TMPDIR stays as it is set, and tests at length keep to the disk', async (t) => {
  const own = t.testdir()
  t.equal(folderOf({ TMPDIR: own }), own)
  t.equal(folderOf({ TESTS_AT_LENGTH: '1' }), '')
})

t.test('a run that a signal ends leaves nothing', async (t) => {
  const main = fileURLToPath(new URL('./main.js', import.meta.url))
  const run = spawn('env', ['-i', `PATH=${process.env.PATH}`, process.execPath, main, 'test/run/rooms.test.ts'])
  t.teardown(() => run.kill('SIGKILL'))
  if (folderOf({}) === '') {
    t.pass('this machine has no room in memory')
    return
  }
  const ended = once(run, 'exit')
  const folders = () => readdirSync('/dev/shm').filter((name) => name.startsWith(`ringledger-tests-${run.pid}-`))
  await eventually(() => folders().length === 1)
  run.kill('SIGTERM')
  t.strictSame(await ended, [null, 'SIGTERM'])
  t.strictSame(folders(), [])
})
