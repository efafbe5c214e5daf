// Every event type there is, and how stored data becomes a typed event again.
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { AssistantCreated, AssistantUpdated, assistantStream, type AssistantEvent } from './assistant/events.js'
import { CallCompleted, callStream, type CallEvent } from './call/events.js'
import {
  CampaignCreated, CampaignRenamed, LanguageAdded, ModelAdded, PhoneNumberAdded, VoiceAdded, catalogStreams, type CatalogEvent
} from './catalog/events.js'
import { LeadCreated, leadStream, type LeadEvent } from './lead/events.js'
import { DispatcherCheckpointed, markerStream, type MarkerEvent } from './marker/events.js'
import type { StoredEvent } from './stored-event.js'

export type DomainEvent = AssistantEvent | LeadEvent | CallEvent | CatalogEvent | MarkerEvent
export type EventType = DomainEvent['type']

/** Schema of the current version of each type; `schema_version` of the metadata says which one was written. */
export const eventSchemas: Record<EventType, TSchema> = {
  AssistantCreated,
  AssistantUpdated,
  LeadCreated,
  CallCompleted,
  VoiceAdded,
  LanguageAdded,
  ModelAdded,
  CampaignCreated,
  CampaignRenamed,
  PhoneNumberAdded,
  DispatcherCheckpointed
}

export const schemaVersion = '1'

/** A stored event does not have the shape of its type, or does not belong on its stream. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}

const validators = new Map(Object.entries(eventSchemas).map(([type, schema]) => [type, Compile(schema)]))

/**
 * The typed event that `stored` holds, or nothing when its type is not one of ours.
 * @throws DecodeError naming the first field that does not fit, or the stream where it has no business: anybody who
 * reaches the event store can append anything anywhere
 */
export function decode (stored: Pick<StoredEvent, 'type' | 'data' | 'stream' | 'revision'>): DomainEvent | undefined {
  const validator = validators.get(stored.type)
  if (!validator) return undefined
  if (!validator.Check(stored.data)) {
    const [first] = validator.Errors(stored.data)
    throw new DecodeError(`${stored.type} at ${stored.stream}@${stored.revision}: ${first?.instancePath || 'data'} ${first?.message}`)
  }
  // The check above is what makes this true; the compiler cannot follow it across the map.
  const event = { type: stored.type, data: stored.data } as DomainEvent
  if (!isAtHome(event, stored.stream)) throw new DecodeError(`${stored.type} does not belong on the stream ${stored.stream}`)
  return event
}

function isAtHome ({ type, data }: DomainEvent, stream: string): boolean {
  switch (type) {
    case 'AssistantCreated':
    case 'AssistantUpdated': return stream === assistantStream(data.assistant_id)
    case 'LeadCreated': return stream.startsWith(leadStream(data.campaign_id, ''))
    case 'CallCompleted': return stream === callStream(data.call_id)
    case 'CampaignCreated':
    case 'CampaignRenamed': return stream === catalogStreams.campaign(data.campaign_id)
    case 'PhoneNumberAdded': return stream === catalogStreams.phoneNumber(data.phone_number_id)
    case 'VoiceAdded': return stream === catalogStreams.voices
    case 'LanguageAdded': return stream === catalogStreams.languages
    case 'ModelAdded': return stream === catalogStreams.models
    case 'DispatcherCheckpointed': return stream === markerStream
    default: return type satisfies never
  }
}
