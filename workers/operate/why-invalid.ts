// What is wrong with the report of a call that was skipped as invalid, read from the log again.
import { callStream } from '../../src/features/calls/events.js'
import { tryDecode } from '../../src/domain/events.js'
import type { Streams } from '../../src/log/event-log.js'

/** An engine may keep events of its own before its report; what is behind so many is not looked at. */
const mostEvents = 100

/** Nothing when the log has no such report any more. @throws EventStoreUnavailable */
export async function whyInvalid (streams: Pick<Streams, 'read'>, callId: string): Promise<string | undefined> {
  const events = await streams.read(callStream(callId), 0n, mostEvents)
  const first = events.find(({ type }) => type === 'CallCompleted')
  return first && tryDecode(first).problem
}
