// A worker of the delivery log that is killed or frozen. It prints each step, and dies at one.
import { subscribe } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'
import { openPool } from '../../../src/postgres/pool.js'
import { runPeriodic } from '../../../workers/periodic.js'
import { sending } from '../../support/workers/sender-rig.js'

const [databaseUrl = '', redisUrl = '', holder = '', diesAt = ''] = process.argv.slice(2)
const steps = { sends: 'undici:request:create', 'was answered': 'undici:request:headers' }
for (const [step, channel] of Object.entries(steps)) subscribe(channel, () => pass(step))
const pool = openPool(databaseUrl, { applicationName: 'worker-main', answerWithinMs: 10_000, onError: () => {} })
const { sender, log, stop } = await sending({ teardown () {} }, { pool, databaseUrl }, {
  redis: redisUrl ? { url: redisUrl } : undefined, waits: [0, ...Array<number>(7).fill(200)], timeoutMs: 60_000, holder
})
log.info = (_, message) => pass(message)
const ended = new AbortController()
void runPeriodic(sender.tasks, { pool, name: 'worker', holder, signal: ended.signal, log })
process.stdin.resume().on('close', () => process.exit()) // the test is gone
process.on('SIGTERM', () => {
  ended.abort()
  void stop(500).then(() => process.exit(0))
})
pass('works')

/** Written at once, as the process may end next. */
function pass (at: string): void {
  writeSync(1, `${JSON.stringify({ at })}\n`)
  if (at === diesAt) process.kill(process.pid, 'SIGKILL')
}
