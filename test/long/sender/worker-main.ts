// A worker of the sender to come, to be killed. It says when it works, and what ends unexpectedly.
import { openPool } from '../../../src/postgres/pool.js'
import { runPeriodic } from '../../../workers/periodic.js'
import { sending } from '../../support/workers/sender-rig.js'

const [databaseUrl = '', redisUrl = '', holder = ''] = process.argv.slice(2)
const pool = openPool(databaseUrl, { applicationName: 'worker-main', answerWithinMs: 10_000, onError: () => {} })
const { sender, log, stop } = await sending({ teardown () {} }, { pool, databaseUrl }, {
  redis: redisUrl ? { url: redisUrl } : undefined, waits: [0, 200, 200, 200, 200, 200, 200, 200], holder
})
const ended = new AbortController()
void runPeriodic(sender.tasks, { pool, name: 'worker', holder, signal: ended.signal, log })
process.stdin.resume().on('close', () => process.exit()) // the test is gone
process.on('SIGTERM', () => {
  ended.abort()
  void stop(500).then(() => process.exit(0))
})
process.stdout.write('{"at": "works"}\n')
