// `ringledger calls complete`: reports a completed call by event, as the call engine would.
import { randomUUID } from 'node:crypto'
import { assistantOwner } from '../commands/assistants.js'
import { commandHandler } from '../commands/handle.js'
import { decode } from '../domain/events.js'
import { member } from '../domain/json.js'
import { callDecider, validateReport } from '../features/calls/model.js'
import { type CallCompleted, callStream } from '../features/calls/events.js'
import type { Streams } from '../log/event-log.js'
import { readText } from '../text-files.js'
import { answer } from './output.js'
import { withConnections } from './running.js'

export async function complete (file: string, { json }: { json?: boolean }): Promise<void> {
  const report = readReport(file)
  const isNew = await withConnections('ringledger calls complete', ({ streams }) => appendReport(streams, report))
  answer(json, { call_id: report.call_id, appended: isNew }, `Call ${report.call_id} is in the log${isNew ? '' : ' already'}.`)
}

/** @throws an Error that names the file and the first invalid field */
function readReport (file: string): CallCompleted {
  try {
    const data: unknown = JSON.parse(readText(file))
    const stream = callStream(String(member(data, 'call_id')))
    const event = decode({ type: 'CallCompleted', data, metadata: {}, stream, revision: 0n })
    if (event?.type === 'CallCompleted') return event.data
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${file} is not a completed call: ${reason}`, { cause })
  }
  throw new Error(`${file} is not a completed call`)
}

/**
 * Seals the report for the owner of the assistant.
 * @returns whether the log did not have it before
 * @throws Rejection when the call was reported with another body
 */
async function appendReport (streams: Streams, { call_id: callId, ...body }: CallCompleted): Promise<boolean> {
  const command = validateReport(callId, { body }, {}, new Date())
  const ofUser = await assistantOwner(streams, body.assistant_id)
  const { isAppended = false } = await commandHandler(streams)({
    aggregate: callDecider,
    stream: callStream(callId),
    decide: (state) => callDecider.decide(command, state),
    origin: { commandId: randomUUID(), correlationId: randomUUID(), ofUser }
  })
  return isAppended
}
