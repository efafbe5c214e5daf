// Acquires the lock of one directory after the other, each at the instant at which other processes try, and holds what
// it got until its stdin closes.
import { acquireLock } from '../../src/lock.js'

const [begin = '', ...directories] = process.argv.slice(2)
const STEP_MS = 5

const got = directories.map((directory, n) => {
  while (Date.now() < Number(begin) + n * STEP_MS);
  return acquireLock(directory, 'start', 'acquire-main').heldBy === undefined
})
process.stdout.write(`${JSON.stringify(got)}\n`)
process.stdin.resume()
