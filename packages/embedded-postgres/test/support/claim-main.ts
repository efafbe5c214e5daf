// Claims one directory after the other, each at the instant at which its rivals do, and keeps what it got until its stdin closes.
import { claim } from '../../src/lock.js'

const [begin = '', ...directories] = process.argv.slice(2)
const STEP_MS = 5

const got = directories.map((directory, n) => {
  while (Date.now() < Number(begin) + n * STEP_MS);
  return claim(directory, 'start', 'claim-main').heldBy === undefined
})
process.stdout.write(`${JSON.stringify(got)}\n`)
process.stdin.resume()
