// A log on a full disk keeps no process from ending.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'

const program = join(packageRoot, 'dist/test/cli/running/log-to-full-disk-main.js')
const skip = existsSync('/dev/full') ? false : '/dev/full is not here'

for (const [how, argument] of [['by itself', 'return'], ['by an exit', 'exit']] as const) {
  t.test(`a process that ends ${how} ends, though nothing of its log can be written`, { skip }, async (t) => {
    const child = spawn(process.execPath, [program, argument], { stdio: 'inherit', timeout: 20_000 })
    t.strictSame(await once(child, 'exit'), [3, null], 'its own exit status, and no signal that ended it')
  })
}
