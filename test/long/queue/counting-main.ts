// A worker of requests that count, for tests that kill or freeze it. It prints each step, and dies at one.
import { writeSync } from 'node:fs'
import { Notifications } from '../../../src/postgres/notifications.js'
import { openPool } from '../../../src/postgres/pool.js'
import { startWork } from '../../../workers/work/run.js'
import { counting } from '../../support/workers/work-rig.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [databaseUrl = '', worker = '', diesAt = ''] = process.argv.slice(2)
const ignore = () => {}

const pool = openPool(databaseUrl, { applicationName: 'counting-main', onError: ignore, stalledAfterMs: 500 })
const onStep = (step: number) => {
  writeSync(1, `${JSON.stringify({ step })}\n`) // at once, as the process may end next
  if (String(step) === diesAt) process.kill(process.pid, 'SIGKILL')
}
startWork({
  pool,
  notifications: new Notifications({ databaseUrl, onError: ignore }),
  kinds: { counting: counting(pool, { worker, onStep }) },
  holder: worker,
  log: { info: ignore, warn: ignore },
  mayWork: () => true,
  turnMs: 50,
  lookEveryMs: 200
})
