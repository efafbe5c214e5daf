// Every event in words, for the AsyncAPI document.
import { type EventType, markerStream } from '../../src/domain/events.js'
import { callId, completedCall } from '../../src/http/docs/examples.js'
import { apiKeyStream, tokenStream } from '../../src/features/api-keys/events.js'
import { assistantStream } from '../../src/features/assistants/events.js'
import { blacklistStream } from '../../src/features/blacklist/events.js'
import { callStream } from '../../src/features/calls/events.js'
import { campaignStream } from '../../src/features/campaigns/events.js'
import { catalogStreams } from '../../src/features/catalog/events.js'
import { leadStream } from '../../src/features/leads/events.js'
import { leadImportStream } from '../../src/features/imports/events.js'
import { personRequestStream } from '../../src/features/persons/events.js'
import { phoneHolderStream, phoneNumberStream } from '../../src/features/phone-numbers/events.js'
import { personKeyStream, personOf } from '../../src/domain/sealed.js'

// What erasures leave in the log, in words, for the AsyncAPI document.
const erasures = {
  CallErased: {
    stream: 'call',
    summary: 'The person of a call was erased: this is what is left of it.',
    description: `All events of the stream before it are hidden by \`$tb\`, and gone after a scavenge. The call counts once all the same, and
the status of its lead still follows from it. Reports of the call that come later are duplicates.`
  },
  LeadErased: {
    stream: 'lead',
    summary: 'The person of a lead, or of secondary contacts of it, was erased.',
    description: `As if the lead, or the contacts, had never been, but for their ids, which are not given out again. The events before it stay: their
key is gone, so nobody can read them.`
  },
  BlacklistEntryErased: {
    stream: 'blacklist',
    summary: 'The person of a do-not-call entry was erased. The entry still holds.',
    description: `The digest in the name of the stream stands for the number, which is nowhere any more. All events of the stream before it are hidden
by \`$tb\`, and gone after a scavenge.`
  }
} as const

export interface Described {
  stream: keyof typeof streams
  summary: string
  /** Others append it in this version, and never another: the name is that of its schema. */
  versionOfOthers?: number
  description?: string
  examples?: object[]
}

export const events: Record<EventType, Described> = {
  ...erasures,
  CallCompleted: {
    stream: 'call',
    summary: 'A call has ended.',
    versionOfOthers: 1,
    description: `Append it to \`call-<call_id>\` with the expected revision \`NO_STREAM\` and an event id that you keep for retries (UUIDv5 of the
call id is good). The first one counts: it moves the lead and makes one webhook; later ones on the stream are counted as
duplicates. What engines append stays plain; what is reported by HTTP is sealed in the log (\`CallCompleted.v2\`). An event that does not fit this schema is parked and shown to operators. An unknown assistant is
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
  LeadImportRequested: {
    stream: 'leadImport',
    summary: 'A user sent leads to be imported.',
    description: 'The rows wait in the database until they are done. Each that becomes a lead is a `LeadCreated`.'
  },
  LeadImportCompleted: { stream: 'leadImport', summary: 'Every row of an import is done.' },
  LeadImportFailed: { stream: 'leadImport', summary: 'An import cannot go on. The leads that it has created stay.' },
  VoiceAdded: { stream: 'voices', summary: 'A voice became available.' },
  LanguageAdded: { stream: 'languages', summary: 'A language became available.' },
  ModelAdded: { stream: 'models', summary: 'A model became available.' },
  CampaignCreated: { stream: 'campaign', summary: 'A campaign of a user was added.' },
  CampaignRenamed: {
    stream: 'campaign',
    summary: 'A campaign got another name.',
    description: 'Or an import gave it, for the first time, the name that it has already.'
  },
  CampaignDeleted: {
    stream: 'campaign',
    summary: 'A campaign was deleted.',
    description: 'It takes no lead any more. Those that it has stay, with its name.'
  },
  PhoneNumberAdded: { stream: 'phoneNumber', summary: 'A phone number of a user was added.' },
  PhoneNumberReleased: {
    stream: 'phoneNumber',
    summary: 'A user gave a phone number back.',
    description: 'As the first event of a stream: a claim was ended before it led to a number, and none is added under this id.'
  },
  PhoneNumberClaimed: {
    stream: 'phoneHolder',
    summary: 'A phone number is held, under the id of a number that is to be added.',
    description: 'The digest stands for the phone number, which is in no stream name.'
  },
  PhoneNumberFreed: { stream: 'phoneHolder', summary: 'A phone number is held by nobody.' },
  ApiKeyCreated: {
    stream: 'apiKey',
    summary: 'A user made an API key.',
    description: 'The key itself is nowhere: by its SHA-256 it is recognised, by how it begins its user tells it from others.'
  },
  ApiKeyRevoked: { stream: 'apiKey', summary: 'A user ended an API key: it is refused for good.' },
  TokenRevoked: {
    stream: 'token',
    summary: 'An operator ended a token before its time.',
    description: 'The digest is the SHA-256 of its `jti`.'
  },
  PhoneNumberBlacklisted: {
    stream: 'blacklist',
    summary: 'A user does not want a phone number called.',
    description: `From here on every lead and secondary contact of the user with the number is blacklisted, also one whose
event comes later. The digests stand for the user and the number, which are in no stream name.`
  },
  PhoneNumberUnblacklisted: {
    stream: 'blacklist',
    summary: 'A phone number may be called again.',
    description: 'Leads and secondary contacts with it have the status again that their own events and calls say.'
  },
  PersonRequested: {
    stream: 'personRequest',
    summary: 'A user asked for a copy of what is known of a person, or for its end.',
    description: 'The digest stands for the phone number, which is in no event of the request.'
  },
  PersonRequestCompleted: { stream: 'personRequest', summary: 'All that was asked for was done.' },
  PersonRequestFailed: { stream: 'personRequest', summary: 'What was asked for could not be done, and is not tried again.' },
  PersonKeyCreated: {
    stream: 'personKey',
    summary: 'A person got the key that what events say of them is sealed under.',
    description: `The digests stand for the user and the number. What is \`sealed\` in an event names this key. A person who was
erased gets another one when a user names their number again. The same \`key_id\` once more says that the key is encrypted with
another SECRET_KEY from then on.`
  },
  PersonKeyErased: {
    stream: 'personKey',
    summary: 'The key of a person was erased.',
    description: 'What was sealed under it can be read by nobody. The stream is deleted after it, which a new key undoes.'
  },
  DispatcherCheckpointed: {
    stream: 'marker',
    summary: 'The webhook dispatcher wrote down how far it and the ids have come.',
    description: 'By it a database that was restored to an older state is told from one that is up to date.'
  }
}

// The streams that events stand on, for the AsyncAPI document.
const of = (stream: (id: number) => string) => stream(0).replace('0', '{id}')
export const streams = {
  call: callStream('{call_id}'),
  assistant: of(assistantStream),
  lead: leadStream(0, '{digest}').replace('0', '{campaign_id}'),
  leadImport: leadImportStream('{id}'),
  voices: catalogStreams.voices,
  languages: catalogStreams.languages,
  models: catalogStreams.models,
  campaign: of(campaignStream),
  phoneNumber: of(phoneNumberStream),
  phoneHolder: phoneHolderStream('{digest}'),
  apiKey: of(apiKeyStream),
  token: tokenStream('{digest}'),
  blacklist: blacklistStream('{user_digest}', '{number_digest}'),
  personRequest: personRequestStream('{id}'),
  personKey: personKeyStream(personOf('{user_digest}', '{number_digest}')),
  marker: markerStream
}
