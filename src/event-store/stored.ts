// Events as the client delivers them become ours.
import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'

/** Our shape of an event that the client delivered; data that is not JSON stays as it came. */
export function toStoredEvent (event: NonNullable<ResolvedEvent['event'] | AllStreamResolvedEvent['event']>): StoredEvent {
  return {
    id: event.id,
    stream: event.streamId,
    revision: event.revision,
    position: event.position?.commit ?? 0n,
    type: event.type,
    data: event.data,
    metadata: isStringMap(event.metadata) ? event.metadata : {},
    created: event.created
  }
}

function isStringMap (metadata: unknown): metadata is Record<string, string> {
  return typeof metadata === 'object' && metadata !== null && !(metadata instanceof Uint8Array) &&
    Object.values(metadata).every((value) => typeof value === 'string')
}
