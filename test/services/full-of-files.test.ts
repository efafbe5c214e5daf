// A disk with free bytes that takes no further file is full: Postgres cannot make the next piece of its log there.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDiskMonitor } from '../../src/services/status.js'
import { smallDisk } from '../support/back-ends/small-disk.js'
import { keepingLog, scratchLedger } from '../support/postgres/ledger.js'

const disk = smallDisk(t, 64, 100)
if (typeof disk === 'string') t.comment(disk) // it cannot be tried there
else {
  const { pool } = await scratchLedger(t)
  await t.test('a disk without room for files is full, until there is room', async (t) => {
    const { lines, ...log } = keepingLog()
    const { assertRoom } = openDiskMonitor({ pool, disk: { name: 'of the test', path: disk.path }, log, everyMs: 0 })
    await assertRoom()
    const folder = join(disk.path, 'files')
    mkdirSync(folder)
    for (let n = 0; n < 90; n++) writeFileSync(join(folder, String(n)), '')
    await t.rejects(assertRoom(), { message: /^the disk of the test is full/ })
    rmSync(folder, { recursive: true })
    await assertRoom()
    t.match(lines.map(({ message }) => message), [/is full/, /there is room again/])
  })
}
