// Reports a call by event, until the log has it: EVENTSTORE_URL=… node dist/examples/call-engine.js [REPORT.json]
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import { reportCall } from '../docs/call-engine/report-call.js'

const [file = 'examples/completed-call.json'] = process.argv.slice(2)
const { EVENTSTORE_URL: url = 'esdb://127.0.0.1:2113?tls=false' } = process.env // where `npm start` has its log
const attempts = 10

const report = JSON.parse(await readFile(file, 'utf8')) as { call_id: string }
const client = EventStoreDBClient.connectionString(url)
try {
  const isIn = await untilAcknowledged(() => reportCall(client, report))
  process.stdout.write(`${report.call_id} ${isIn ? 'is in the log' : 'was reported before, and that report stands'}\n`)
} finally {
  await client.dispose()
}

/** A report that was not acknowledged may be in the log all the same: to repeat it is safe. */
async function untilAcknowledged<Answer> (send: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      if (attempt === attempts) throw error
      await delay(1_000)
    }
  }
}
