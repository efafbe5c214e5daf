// Appends the report of a completed call.
import { randomUUID } from 'node:crypto'
import { assistantOwner } from '../../commands/call-owners.js'
import { commandHandler } from '../../commands/handle-command.js'
import { callDecider } from '../../features/calls/decide.js'
import { callStream, type CallCompleted } from '../../features/calls/events.js'
import { validateReport } from '../../features/calls/validate.js'
import type { Streams } from '../../log/streams.js'

/**
 * Sealed for the owner of the assistant.
 * @returns whether it was not in the log before
 * @throws Rejection when the call was reported with another body
 */
export async function appendReport (streams: Streams, { call_id: callId, ...body }: CallCompleted): Promise<boolean> {
  const command = validateReport(callId, { body }, {})
  const ofUser = await assistantOwner(streams, body.assistant_id)
  const { isAppended = false } = await commandHandler(streams).handle({
    aggregate: callDecider,
    stream: callStream(callId),
    decide: (state) => callDecider.decide(command, state),
    origin: { commandId: randomUUID(), correlationId: randomUUID(), ofUser }
  })
  return isAppended
}
