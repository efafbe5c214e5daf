// Ids that follow from what they name, so that a repeated append is recognised by the store.
import { createHash } from 'node:crypto'

/** A UUID of version 5 (RFC 9562, section 5.5): the same namespace and name always give the same id. */
export function uuidV5 (namespace: string, name: string): string {
  const salt = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  const hash = createHash('sha1').update(salt).update(name).digest().subarray(0, 16)
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** The id of the event at `index` among those of one command. */
export const eventId = (commandId: string, index: number) => uuidV5(commandId, String(index))
