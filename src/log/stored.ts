// Events as the client delivers them become ours.
import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'

type Delivered = NonNullable<ResolvedEvent['event'] | AllStreamResolvedEvent['event']>

/** Our shape of an event that the client delivered; data that is not JSON stays as it came. */
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

/** Metadata of other writers may hold anything. A value that is no text becomes JSON: so a version 2 is not missed. */
function texts (metadata: unknown): Record<string, string> {
  if (typeof metadata !== 'object' || metadata === null) return {}
  if (metadata instanceof Uint8Array || Array.isArray(metadata)) return {}
  if (isStringMap(metadata)) return metadata
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

const isStringMap = (metadata: object): metadata is Record<string, string> =>
  Object.values(metadata).every((value) => typeof value === 'string')
