// Converts events of the client to ours.
import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { createHash } from 'node:crypto'

type Delivered = NonNullable<ResolvedEvent['event'] | AllStreamResolvedEvent['event']>

/** Data that is not JSON stays as it came. */
export function toStoredEvent (event: Delivered): StoredEvent {
  return {
    id: event.id,
    stream: event.streamId,
    revision: event.revision,
    position: event.position?.commit ?? 0n,
    type: event.type,
    data: event.data,
    metadata: texts(event.metadata),
    created: event.created
  }
}

/** Other writers may put anything into metadata. Non-strings become JSON, so that a `version: 2` is noticed. */
function texts (metadata: unknown): Record<string, string> {
  if (typeof metadata !== 'object' || metadata === null) return {}
  if (metadata instanceof Uint8Array || Array.isArray(metadata)) return {}
  const given = Object.entries(metadata).filter(([, value]) => value !== null)
  return Object.fromEntries(given.map(([name, value]) => [name, typeof value === 'string' ? value : jsonOf(value)]))
}

function jsonOf (value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return 'nested too deep'
  }
}

/** Our events never nest deeper; without a limit a hostile one would overflow the stack. */
const deepest = 500

/** Size in V8's heap, in bytes. It is right to a factor of two, which is enough for a budget. */
export function sizeOf (value: unknown, levels = deepest): number {
  if (typeof value === 'string') return 24 + value.length
  if (typeof value !== 'object' || value === null || levels === 0) return 8
  if (value instanceof Uint8Array) return 32 + value.length
  let bytes = 32
  if (value instanceof Map || value instanceof Set) {
    for (const [key, item] of value.entries()) bytes += 16 + sizeOf(key, levels - 1) + sizeOf(item, levels - 1)
  } else if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item, levels - 1)
  else for (const name in value) bytes += 8 + sizeOf(Reflect.get(value, name), levels - 1)
  return bytes
}

/** Of an event: what is kept of it, in bytes. */
export const bytesOf = ({ data, metadata }: { data: unknown, metadata?: unknown }) => sizeOf(data) + sizeOf(metadata)

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
