// Every event there is, and the stream where it has its business.
import { apiKeyStream, tokenStream, type ApiKeyEvent, type TokenEvent } from '../features/api-keys/events.js'
import { assistantEventTypes, assistantStream, type AssistantEvent } from '../features/assistants/events.js'
import { type BlacklistEvent, blacklistEventTypes, isBlacklistStream } from '../features/blacklist/events.js'
import { type CallEvent, callStream } from '../features/calls/events.js'
import { campaignStream, type CampaignEvent } from '../features/campaigns/events.js'
import { catalogStreams, type CatalogEvent } from '../features/catalog/events.js'
import { type LeadEvent, leadStream } from '../features/leads/events.js'
import { leadImportStream, type LeadImportEvent } from '../features/imports/events.js'
import { markerStream, type MarkerEvent } from './marker.js'
import {
  isPersonKeyStream, type PersonKeyEvent, type PersonRequestEvent, personRequestEventTypes, personRequestStream
} from '../features/persons/events.js'
import {
  phoneHolderStream, phoneNumberStream, type HolderEvent, type PhoneNumberEvent
} from '../features/phone-numbers/events.js'

export type DomainEvent = AssistantEvent | LeadEvent | LeadImportEvent | CampaignEvent | PhoneNumberEvent |
  HolderEvent | CallEvent | ApiKeyEvent | TokenEvent | BlacklistEvent | PersonRequestEvent | PersonKeyEvent |
  CatalogEvent | MarkerEvent

export function isAtHome (event: DomainEvent, stream: string): boolean {
  if (isOf<AssistantEvent>(assistantEventTypes, event)) return stream === assistantStream(event.data.assistant_id)
  if (isOf<BlacklistEvent>(blacklistEventTypes, event)) return isBlacklistStream(stream)
  if (isOf<PersonRequestEvent>(personRequestEventTypes, event)) return stream === requestStreamOf(event)
  const { type, data } = event
  switch (type) {
    case 'LeadCreated':
    case 'LeadUpdated':
    case 'LeadStatusChanged':
    case 'LeadDeleted':
    case 'LeadErased': return stream.startsWith(leadStream(data.campaign_id, ''))
    case 'LeadImportRequested':
    case 'LeadImportCompleted':
    case 'LeadImportFailed': return stream === leadImportStream(data.import_id)
    case 'CallCompleted':
    case 'CallErased': return stream === callStream(data.call_id)
    case 'CampaignCreated':
    case 'CampaignRenamed':
    case 'CampaignDeleted': return stream === campaignStream(data.campaign_id)
    case 'PhoneNumberAdded':
    case 'PhoneNumberReleased': return stream === phoneNumberStream(data.phone_number_id)
    case 'PhoneNumberClaimed':
    case 'PhoneNumberFreed': return stream.startsWith(phoneHolderStream(''))
    case 'ApiKeyCreated':
    case 'ApiKeyRevoked': return stream === apiKeyStream(data.api_key_id)
    case 'TokenRevoked': return stream === tokenStream(data.jti_digest)
    case 'PersonKeyCreated':
    case 'PersonKeyErased': return isPersonKeyStream(stream)
    case 'VoiceAdded': return stream === catalogStreams.voices
    case 'LanguageAdded': return stream === catalogStreams.languages
    case 'ModelAdded': return stream === catalogStreams.models
    case 'DispatcherCheckpointed': return stream === markerStream
    default: return type satisfies never
  }
}

const requestStreamOf = ({ data }: PersonRequestEvent) => personRequestStream(data.person_request_id)

const isOf = <Event extends DomainEvent>(types: readonly Event['type'][], event: DomainEvent): event is Event =>
  types.some((type) => type === event.type)
