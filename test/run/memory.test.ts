// Where a run keeps its temporary files.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import t from 'tap'

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
