// Creates many large assistants in a process with a small heap, with 8 MiB for what is remembered of streams. It prints
// how many.
import { commandHandler } from '../../src/commands/handle.js'
import { EventStoreConnection } from '../../src/log/connection.js'
import { EventLog } from '../../src/log/event-log.js'
import { createRequest } from '../support/commands/handle-on.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [url = '', count = ''] = process.argv.slice(2)
const handle = commandHandler(new EventLog(new EventStoreConnection(url)), 8 * 2 ** 20)
/** Each a string of its own: repeated ones would share their parts. */
const large = () => Buffer.alloc(480 * 1024, 'x').toString('latin1')
for (let n = 1; n <= Number(count); n++) await handle(createRequest(n, { system_prompt: large() }))
process.stdout.write(`${JSON.stringify({ handled: Number(count) })}\n`)
process.exit()
