// A backup and a restore are whole, or there is nothing of them.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeDataDir } from '@ringledger/embedded-postgres'
import t, { type Test } from 'tap'
import { smallDisk } from '../../support/back-ends/small-disk.js'
import { dataDir, ringledger, run } from '../../support/ringledger.js'
import { startService } from '../../support/running-service.js'

const folder = dataDir(t)
const file = join(folder, 'whole')
const service = await startService(t)
const made = await run(t, ['backup', file], { DATA_DIR: service.dataDir })
const whole = readFileSync(file)

const restore = (t: Test, from: string, to: string) => run(t, ['restore', from], { DATA_DIR: to })

t.setTimeout(240_000)
t.test('a file that is cut off, damaged or none of ours is refused, and nothing is left', async (t) => {
  t.equal(made.code, 0, made.stderr)
  const damaged = Buffer.from(whole)
  damaged.fill(0, whole.length >> 1, (whole.length >> 1) + 100)
  const files: Array<[string, Buffer, RegExp]> = [
    ['cut', whole.subarray(0, whole.length - 5), /is damaged or cut off/],
    ['damaged', damaged, /is damaged or cut off/],
    ['other', Buffer.from('{"some": "JSON"}'), /is damaged or cut off|is no backup/]
  ]
  const target = join(folder, 'target')
  for (const [name, content, problem] of files) {
    writeFileSync(join(folder, name), content)
    t.match(await restore(t, join(folder, name), target), { code: 1, stderr: problem }, name)
    t.notOk(existsSync(target), `${name} leaves no DATA_DIR`)
  }
})

t.test('a DATA_DIR that holds something is refused, and stays as it is', async (t) => {
  const used = join(folder, 'used')
  mkdirSync(used)
  writeFileSync(join(used, 'secrets.json'), '{}')
  const refused = await restore(t, file, used)
  t.match(refused, { code: 1, stderr: /not empty \(secrets\.json\): .* Set DATA_DIR to another/ })
  t.same(readdirSync(used).filter((name) => !name.startsWith('lock.')), ['secrets.json'])
})

t.test('a restore that was killed is noticed by a start, and done anew by the next restore', async (t) => {
  const broken = dataDir(t)
  mkdirSync(join(broken, 'postgres/cluster.draft-restored'), { recursive: true })
  writeFileSync(join(broken, 'restore.unfinished'), `${file}\n`)
  const start = await run(t, ['migrate'], { DATA_DIR: broken })
  t.match(start, { code: 1, stderr: /was broken off: run `ringledger restore FILE` again/ })
  t.equal((await restore(t, file, broken)).code, 0)
  t.notOk(existsSync(join(broken, 'restore.unfinished')))
  t.equal((await run(t, ['projections', 'verify', 'catalog'], { DATA_DIR: broken })).code, 0)
})

t.test('a DATA_DIR that the account of Postgres cannot reach is restored and backed up as well', async (t) => {
  const disk = smallDisk(t, 64) // another file system than the one that its cluster is on, where one can be mounted
  const closed = join(typeof disk === 'string' ? folder : disk.path, 'closed')
  mkdirSync(closed)
  chmodSync(closed, 0o700)
  const target = join(closed, 'data')
  t.teardown(() => removeDataDir(target))
  const restored = await restore(t, file, target)
  t.equal(restored.code, 0, restored.stderr)
  t.equal(existsSync(join(target, 'postgres.location')), process.getuid?.() === 0, 'root keeps the cluster elsewhere')
  const again = await run(t, ['backup', join(folder, 'again')], { DATA_DIR: target })
  t.equal(again.code, 0, again.stderr)
})

t.test('a backup that is broken off leaves no file', async (t) => {
  const into = join(folder, 'broken-off')
  mkdirSync(into)
  const backup = ringledger(t, ['backup', join(into, 'file')], { DATA_DIR: service.dataDir })
  await backup.says((_, stderr) => /Using the running stack/.exec(stderr)?.[0])
  backup.signal('SIGTERM')
  t.equal((await backup.ended).code, 1, backup.stderr())
  t.same(readdirSync(into), [])
})
