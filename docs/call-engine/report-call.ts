// Reports by event that a call has ended. The same report twice is one report.
import { createHash } from 'node:crypto'
import { type EventStoreDBClient, jsonEvent, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client'

/** Any UUID will do; choose one for your engine and never change it. */
const namespace = '6f1d4f0a-3c5e-4b7e-9a52-0d8f6c1b7e21'

/** The version 5 UUID of a name (RFC 9562, section 5.5). */
export function uuidV5 (name: string): string {
  const hash = createHash('sha1').update(Buffer.from(namespace.replaceAll('-', ''), 'hex')).update(name).digest()
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** `false` when another report of this call is in the log: that one stands. Any error may be tried again. */
export async function reportCall (client: EventStoreDBClient, report: { call_id: string }): Promise<boolean> {
  const id = uuidV5(report.call_id)
  const metadata = { $correlationId: report.call_id }
  const event = jsonEvent({ id, type: 'CallCompleted', data: report, metadata })
  try {
    await client.appendToStream(`call-${report.call_id}`, event, { expectedRevision: NO_STREAM })
    return true
  } catch (error) {
    if (error instanceof WrongExpectedVersionError) return false
    throw error
  }
}
