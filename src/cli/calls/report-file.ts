// Reads the report of a completed call from a file.
import { callStream, type CallCompleted } from '../../features/calls/events.js'
import { decode } from '../../domain/events.js'
import { readText } from '../../text-files.js'

/** @throws an Error that names the file and the first field that is wrong */
export async function readReport (file: string): Promise<CallCompleted> {
  try {
    const data: unknown = JSON.parse(readText(file))
    const callId: unknown = typeof data === 'object' && data !== null && 'call_id' in data ? data.call_id : undefined
    const stream = callStream(String(callId))
    const event = decode({ type: 'CallCompleted', data, metadata: {}, stream, revision: 0n })
    if (event?.type === 'CallCompleted') return event.data
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${file} is not a completed call: ${reason}`, { cause })
  }
  throw new Error(`${file} is not a completed call`)
}
