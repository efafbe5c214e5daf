// Who runs Postgres and from where: as root and as an ordinary user, with private homes, without install scripts.
import { execFileSync } from 'node:child_process'
import {
  chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { accountFor, findCluster, POINTER, removeDataDir, STATE_DIR } from '../../src/place.js'
import { openDirectory } from '../support/index.js'
import { copyCheckout, libraries, makeCheckout, PLATFORM_PACKAGE, withoutLinks } from '../support/checkout.js'
import { dataDirs, type ProcessOptions, postgresProcess } from '../support/postgres-process.js'

const isRoot = process.getuid?.() === 0
/** Of one test each: `-g` writes into them what it skips. */
const asRoot = () => ({ skip: isRoot ? false : 'only root can start processes of another account', buffered: true })
const caller = { name: 'nobody', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
const nobody = accountFor('/nonexistent') ?? caller
const checkout = makeCheckout(join(openDirectory(t), 'checkout'), 'own')
const dataDir = await dataDirs(t, checkout)
t.jobs = 3 // each test has directories of its own, and waits for the disk most of the time

function binariesOf (pid: number | undefined): string {
  return readlinkSync(`/proc/${pid}/exe`)
}

function ownerOf (pid: number | undefined): number {
  return statSync(`/proc/${pid}`).uid
}

const checkoutIn = (folder: string) => copyCheckout(checkout, folder)
const unlinked = (folder: string) => withoutLinks(checkoutIn(folder))

t.test('as root, Postgres runs as nobody in a DATA_DIR that stays private', asRoot(), async (t) => {
  const dir = join(openDirectory(t), 'data')
  const { pids } = await postgresProcess(t, checkout, dir).message('opened')
  t.equal(ownerOf(pids.postgres), nobody.uid)
  t.equal(binariesOf(pids.postgres), join(checkout, 'node_modules', PLATFORM_PACKAGE, 'native/bin/postgres'))
  t.match(statSync(dir), { uid: 0, gid: nobody.gid })
  t.equal(statSync(dir).mode & 0o777, 0o710)
  t.equal(statSync(join(dir, 'postgres/cluster')).uid, nobody.uid)
  t.notOk(existsSync(join(dir, POINTER)))
  t.equal(findCluster(dir), join(dir, 'postgres/cluster'))
})

t.test('as root under a 0700 home, cluster and binaries are outside; a DATA_DIR made anew takes over neither', asRoot(), async (t) => {
  const home = openDirectory(t)
  chmodSync(home, 0o700)
  const hidden = checkoutIn(home)
  const dir = join(home, 'data')
  t.equal(findCluster(dir), undefined)
  t.teardown(() => removeDataDir(dir))
  const first = postgresProcess(t, hidden, dir, { how: 'once' })
  t.equal(await first.ended, 0)
  const place = readFileSync(join(dir, POINTER), 'utf8').trim()
  t.ok(place.startsWith(`${STATE_DIR}/`))
  t.equal(findCluster(dir), join(place, 'cluster'))
  t.equal(readFileSync(join(place, 'data-dir.txt'), 'utf8'), `${dir}\n`)
  t.notOk(existsSync(join(dir, 'postgres')))
  execFileSync('cp', ['-a', dir, `${dir}-copy`])
  const second = postgresProcess(t, hidden, dir)
  const { pids } = await second.message('opened')
  t.match(binariesOf(pids.postgres), new RegExp(`^${place}/binaries-.*/bin/postgres$`))
  t.equal(ownerOf(pids.postgres), nobody.uid)
  t.match(
    await postgresProcess(t, hidden, `${dir}-copy`).message('refused'),
    `DATA_DIR ${dir}-copy is in use by \`the Postgres of ${dir}\` (pid ${pids.postgresSupervisor}`,
    'a copy that points to it'
  )

  second.kill('SIGTERM')
  await second.ended
  t.teardown(() => rmSync(place, { recursive: true }))
  rmSync(dir, { recursive: true })
  t.equal(await postgresProcess(t, hidden, dir, { how: 'once' }).ended, 0)
  const pointer = readFileSync(join(dir, POINTER), 'utf8')
  t.equal(pointer, `${place}-2\n`, 'a DATA_DIR made anew at this path has a cluster of its own')
})

t.test('root follows the pointer to no other directory, and makes no new cluster where one is lost', asRoot(), async (t) => {
  const dir = openDirectory(t)
  const cases = [
    ['/etc/cluster', /must name a directory under/],
    [`${STATE_DIR}/../x`, /must name a directory under/],
    [`${STATE_DIR}/lost`, /is not there.*Restore/]
  ] as const
  for (const [target, says] of cases) {
    writeFileSync(join(dir, POINTER), `${target}\n`)
    t.match(await postgresProcess(t, checkout, dir).message('refused'), says)
  }
})

t.test('as an ordinary user, everything is in DATA_DIR and runs as that user', asRoot(), async (t) => {
  const home = openDirectory(t)
  chownSync(home, nobody.uid, nobody.gid)
  chmodSync(home, 0o700)
  const dir = join(home, 'data')
  const main = postgresProcess(t, checkout, dir, { uid: nobody.uid })
  const { pids } = await main.message('opened')
  for (const pid of [...Object.values(pids), main.pid]) t.equal(ownerOf(pid), nobody.uid)
  t.equal(statSync(dir).mode & 0o777, 0o700)
  main.kill('SIGTERM')
  t.equal(await main.ended, 0)

  const again = await postgresProcess(t, checkout, dir, { how: 'once' }).message('opened')
  t.not(again.pids.postgres, pids.postgres, 'root may start it too')
  t.ok(await postgresProcess(t, checkout, dir, { uid: nobody.uid }).message('opened'), 'and the user again')
})

t.test('without install scripts the library links are made at start', { buffered: true }, async (t) => {
  const copy = unlinked(openDirectory(t))
  const { pids } = await postgresProcess(t, copy, dataDir(t)).message('opened')
  t.ok(binariesOf(pids.postgres).startsWith(`${copy}/node_modules`))
  t.same(readdirSync(libraries(copy)), readdirSync(libraries(checkout)))
})

t.test('a DATA_DIR that cannot be written or is a file is refused by name', asRoot(), async (t) => {
  const dir = openDirectory(t)
  const refusal = async (path: string, options: ProcessOptions = {}) =>
    await postgresProcess(t, checkout, join(dir, path), options).message('refused')
  const { uid } = nobody
  const mend = `Make it a directory that uid ${uid} may write, with about 200 MB to spare, or set DATA_DIR`
  t.match(await refusal('data', { uid }), `DATA_DIR ${dir}/data cannot be used: permission denied. ${mend}`)
  mkdirSync(join(dir, 'roots'))
  t.match(await refusal('roots', { uid }), `${dir}/roots cannot be used: permission denied`)
  writeFileSync(join(dir, 'file'), '')
  t.match(await refusal('file'), `${dir}/file cannot be used: it is not a directory`)
  t.match(await refusal('file/data'), `${dir}/file/data cannot be used: a part of its path is not a directory`)
})
