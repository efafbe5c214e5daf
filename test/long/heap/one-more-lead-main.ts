// Asks for one more lead of a contact, in a process that knows nothing of it yet. It prints the outcome.
import { Rejection } from '../../../src/domain/rejection.js'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { EventLog } from '../../../src/log/event-log.js'
import { handleOn, leadRequest } from '../../support/commands/handle-on.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [url = '', contact = ''] = process.argv.slice(2)
const handle = handleOn(new EventLog(new EventStoreConnection(url)))
const outcome = await handle(leadRequest(1, contact, true)).then(
  () => 'created',
  (error: unknown) => ({ refused: error instanceof Rejection ? error.errors : String(error) }))
process.stdout.write(`${JSON.stringify(outcome)}\n`)
process.exit()
