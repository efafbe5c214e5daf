// Every event in words, and the streams that they stand on, for the AsyncAPI document.
import { assistantStream } from '../../../src/domain/assistant/events.js'
import { callStream } from '../../../src/domain/call/events.js'
import { catalogStreams } from '../../../src/domain/catalog/events.js'
import type { EventType } from '../../../src/domain/events.js'
import { leadStream } from '../../../src/domain/lead/events.js'
import { markerStream } from '../../../src/domain/marker/events.js'
import { callId, completedCall } from '../../../src/http/docs/examples.js'

const of = (stream: (id: number) => string) => stream(0).replace('0', '{id}')
export const streams = {
  call: callStream('{call_id}'),
  assistant: of(assistantStream),
  lead: leadStream(0, '{digest}').replace('0', '{campaign_id}'),
  voices: catalogStreams.voices,
  languages: catalogStreams.languages,
  models: catalogStreams.models,
  campaign: of(catalogStreams.campaign),
  phoneNumber: of(catalogStreams.phoneNumber),
  marker: markerStream
}

export interface Described {
  stream: keyof typeof streams
  summary: string
  description?: string
  examples?: object[]
}

export const events: Record<EventType, Described> = {
  CallCompleted: {
    stream: 'call',
    summary: 'A call has ended.',
    description: `Append it to \`call-<call_id>\` with the expected revision \`NO_STREAM\` and an event id that you keep for retries (UUIDv5 of the
call id is good). The first one counts: it moves the lead and makes one webhook; later ones on the stream are counted as
duplicates. An event that does not fit this schema is parked and shown to operators. An unknown assistant is
recorded without a webhook; a lead that is unknown or another user's is treated as null. Keep the event under 1 MiB.
The same by HTTP: \`POST /engine/calls/{call_id}/completed\`.`,
    examples: [{ name: 'completed', payload: { call_id: callId, ...completedCall } }]
  },
  AssistantCreated: { stream: 'assistant', summary: 'An assistant was created, with every setting.' },
  AssistantUpdated: { stream: 'assistant', summary: 'Settings of an assistant changed.' },
  AssistantActivated: { stream: 'assistant', summary: 'An assistant was switched on.' },
  AssistantDeactivated: { stream: 'assistant', summary: 'An assistant was switched off.' },
  AssistantDeleted: {
    stream: 'assistant',
    summary: 'An assistant was deleted.',
    description: 'Calls of it that are reported later are recorded, and their webhooks sent as its settings said.'
  },
  LeadCreated: {
    stream: 'lead',
    summary: 'A lead was created in a campaign.',
    description: 'The digest stands for the phone number, which is in no stream name.'
  },
  LeadUpdated: { stream: 'lead', summary: 'Variables or secondary contacts of a lead changed.' },
  LeadStatusChanged: { stream: 'lead', summary: 'A user gave a lead, or a secondary contact, another status.' },
  LeadDeleted: {
    stream: 'lead',
    summary: 'A lead was deleted with its secondary contacts.',
    description: 'Its phone number may be created again, on the same stream. Calls to it may still be reported.'
  },
  VoiceAdded: { stream: 'voices', summary: 'A voice became available.' },
  LanguageAdded: { stream: 'languages', summary: 'A language became available.' },
  ModelAdded: { stream: 'models', summary: 'A model became available.' },
  CampaignCreated: { stream: 'campaign', summary: 'A campaign of a user was added.' },
  CampaignRenamed: { stream: 'campaign', summary: 'A campaign got another name.' },
  PhoneNumberAdded: { stream: 'phoneNumber', summary: 'A phone number of a user was added.' },
  DispatcherCheckpointed: {
    stream: 'marker',
    summary: 'The webhook dispatcher wrote down how far it and the ids have come.',
    description: 'By it a database that was restored to an older state is told from one that is up to date.'
  }
}
