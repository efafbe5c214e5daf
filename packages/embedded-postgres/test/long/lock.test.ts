// Exactly one process holds a DATA_DIR.
import { writeFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { identify } from '../../src/lock.js'
import { openDirectory } from '../support/index.js'
import { makeCheckout } from '../support/checkout.js'
import { dataDirs, postgresProcess } from '../support/postgres-process.js'

const checkout = makeCheckout(join(openDirectory(t), 'checkout'))
const dataDir = await dataDirs(t, checkout)
t.jobs = 2

t.test('a pid that is another process by now does not hold the directory', { buffered: true }, async (t) => {
  const dir = dataDir(t)
  const started = 'another boot/1'
  const holder = { ...identify(process.pid), started, role: 'start', command: 'ringledger start', since: 'then' }
  writeFileSync(join(dir, 'lock.7'), JSON.stringify(holder))
  t.ok(await postgresProcess(t, checkout, dir, { how: 'once' }).message('opened'))
})

t.test('of four starts at one instant exactly one wins, also over a holder that was killed', { buffered: true }, async (t) => {
  const dir = dataDir(t)
  for (const round of ['after a clean end', 'after kill -9']) {
    const starts = Array.from({ length: 4 }, () => postgresProcess(t, checkout, dir))
    const outcomes = await Promise.all(starts.map((start) => Promise.race([
      start.message('opened').then(() => 'opened'),
      start.message('refused').then(() => 'refused')
    ])))
    t.same(outcomes.toSorted(), ['opened', ...Array(3).fill('refused')], round)
    const winner = starts[outcomes.indexOf('opened')]
    winner?.kill('SIGKILL')
    await winner?.ended
  }
})

/** Changes what a note says of processes, as it looks where their pids mean nothing. */
function moveElsewhere (file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/"started": ?"[^"]*"/g, '"started":"elsewhere"'))
}

const inDirectory = (dir: string, name: RegExp) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((file) => name.test(file)).map((file) => join(dir, file))

t.test('a directory that another container holds is refused, until that ends', async (t) => {
  const dir = dataDir(t)
  const first = postgresProcess(t, checkout, dir)
  await first.message('opened')
  for (const file of inDirectory(dir, /^lock\.\d+$/)) moveElsewhere(file)
  const refused = await postgresProcess(t, checkout, dir).message('refused')
  t.match(refused, /in use by `postgres-main` \(in another container, since .*stop that container/)
  first.kill('SIGTERM')
  await first.ended
  t.ok(await postgresProcess(t, checkout, dir, { how: 'once' }).message('opened'))
})
