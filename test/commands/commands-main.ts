// Handles many large commands, each on a stream of its own, in a process with a small heap. It prints how many.
import { callDecider } from '../../src/features/calls/model.js'
import { type CallCompleted, callStream } from '../../src/features/calls/events.js'
import { commandHandler } from '../../src/commands/handle.js'
import { EventStoreConnection } from '../../src/log/connection.js'
import { EventLog } from '../../src/log/event-log.js'
import { callReport } from '../support/bodies/bodies.js'
import { createRequest } from '../support/commands/handle-on.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [url = '', kind = '', count = '', size = '', cacheMb = ''] = process.argv.slice(2)
const handle = commandHandler(new EventLog(new EventStoreConnection(url)), Number(cacheMb) * 2 ** 20)
/** Each a string of its own: repeated ones would share their parts. */
const large = () => Buffer.alloc(Number(size), 'x').toString('latin1')

const create = (n: number) => handle(createRequest(n, { system_prompt: large() }))

async function complete (n: number): Promise<unknown> {
  const call_id = `call-${n}`
  const transcript = [{ role: 'assistant', text: large(), at: 0 }]
  const report = { call_id, ...callReport(1, { transcript }) } as CallCompleted
  return await handle({
    aggregate: callDecider,
    stream: callStream(call_id),
    decide: (state) => callDecider.decide({ report }, state),
    origin: { commandId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, correlationId: call_id },
    isNew: true
  })
}

const command = kind === 'calls' ? complete : create
for (let n = 1; n <= Number(count); n++) await command(n)
process.stdout.write(`${JSON.stringify({ handled: Number(count) })}\n`)
process.exit()
