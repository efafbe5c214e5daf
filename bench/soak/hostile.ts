// The process of those who are hostile: the first line is what they have, `attack` and `rest` lead them, and the end of
// stdin ends it.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { openAttacks, type Attack, type Means } from './attacks.js'
import { Client } from '../support/client.js'

/** Answers by attack and status; `none` where no answer came. */
const told = new Map<string, Map<string, number>>()
const mostInFlight = 40
let isAttacking = false

/** What `everyMs` of the attacks is meant for, in requests a second; slower machines are attacked more slowly. */
const usualTop = 600

function keepOn ({ name, everyMs, step }: Attack, top: number): void {
  const counts = new Map<string, number>()
  told.set(name, counts)
  const count = (status: string) => counts.set(status, 1 + (counts.get(status) ?? 0))
  let [n, inFlight] = [0, 0]
  setInterval(() => {
    if (!isAttacking || inFlight >= mostInFlight) return
    inFlight += 1
    step(n++)
      .then((answer) => count(statusOf(answer)), () => count('none'))
      .finally(() => { inFlight -= 1 })
  }, everyMs * usualTop / top)
}

const statusOf = (answer: unknown) =>
  typeof answer === 'object' && answer !== null && 'status' in answer ? String(answer.status) : 'dropped'

const hanging = createServer(() => {}).listen(0, '127.0.0.1')
await once(hanging, 'listening')
const address = hanging.address()
const port = typeof address === 'object' ? address?.port : undefined

const lines = createInterface(process.stdin)
lines.once('line', (line) => {
  const { url, top, ...given }: Omit<Means, 'client' | 'hangingUrl'> & { top: number } = JSON.parse(line)
  const client = new Client(url, '127.0.0.8', 60)
  void openAttacks({ ...given, url, client, hangingUrl: `http://localhost:${port}` }).then((attacks) => {
    for (const attack of attacks) keepOn(attack, top)
    process.stdout.write('PREPARED\n')
  })
  lines.on('line', (order) => { isAttacking = order === 'attack' })
})
lines.once('close', () => {
  const all = Object.fromEntries([...told].map(([name, counts]) => [name, Object.fromEntries(counts)]))
  process.stdout.write(`TOLD ${JSON.stringify(all)}\n`, () => process.exit(0))
})
process.stdout.write('LISTENING 0\n')
