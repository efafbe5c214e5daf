// Acquires the lock of one directory after the other, each at the instant at which other processes try, and holds what
// it got until its stdin closes.
import { acquireLock } from '../../src/lock.js'

const [begin = '', ...directories] = process.argv.slice(2)
const STEP_MS = 5

const got: boolean[] = []
for (const [n, directory] of directories.entries()) {
  waitUntil(Number(begin) + n * STEP_MS)
  got.push((await acquireLock(directory, 'start', 'acquire-main')).lock !== undefined)
}
process.stdout.write(`${JSON.stringify(got)}\n`)
process.stdin.resume()

/** Sleeps until shortly before: ten processes that only looked at the clock would be late on two cores. */
function waitUntil (instant: number): void {
  const left = instant - Date.now() - 1
  if (left > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left)
  while (Date.now() < instant);
}
