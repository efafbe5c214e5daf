// Preloaded into a process that is soaked. Asked by a signal, it collects its garbage and tells what is left: how much
// it takes of the machine goes up and down with when V8 cares to collect, and says little of what it holds on to.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const { SOAK_DIR = '.' } = process.env
let asked = 0

process.on('SIGWINCH', () => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  const file = join(SOAK_DIR, `live-${process.pid}-${++asked}`)
  writeFileSync(`${file}.part`, String(heapUsed + external))
  renameSync(`${file}.part`, file) // a reader that waits for it gets all of it
})
