// The AsyncAPI document of every event, made from the schemas that decode them; docs/asyncapi.yaml is its text.
import { stringify } from 'yaml'
import { assistantStream } from '../../../src/domain/assistant/events.js'
import { callStream } from '../../../src/domain/call/events.js'
import { catalogStreams } from '../../../src/domain/catalog/events.js'
import { currentVersion, eventVersions, type EventType } from '../../../src/domain/events.js'
import { leadStream } from '../../../src/domain/lead/events.js'
import { markerStream } from '../../../src/domain/marker/events.js'
import { callId, completedCall } from '../../../src/http/docs/examples.js'
import { servers } from './asyncapi-servers.js'

const of = (stream: (id: number) => string) => stream(0).replace('0', '{id}')
const streams = {
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

interface Described {
  stream: keyof typeof streams
  summary: string
  description?: string
  examples?: object[]
}

const events: Record<EventType, Described> = {
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
  LeadCreated: {
    stream: 'lead',
    summary: 'A lead was created in a campaign.',
    description: 'The digest stands for the phone number, which is in no stream name.'
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

const metadata = {
  type: 'object',
  description: 'The metadata of the event: a flat map of strings, all of them optional on a CallCompleted.',
  additionalProperties: { type: 'string' },
  properties: {
    $correlationId: { type: 'string', description: 'Runs from the request through the event to the webhook.' },
    $causationId: { type: 'string', description: 'The command that led to the event.' },
    command_id: { type: 'string', description: 'One command, one set of events.' },
    user_id: { type: 'string', description: 'Who gave the command.' },
    schema_version: {
      type: 'string',
      description: 'Version of the data, a whole number; 1 when absent. One that this document does not know is parked.'
    },
    traceparent: { type: 'string', description: 'W3C Trace Context.' }
  }
}

const typesOn = (stream: string) =>
  Object.entries(events).flatMap(([type, event]) => event.stream === stream ? [type] : [])
const map = <Value>(keys: string[], value: (key: string) => Value) =>
  Object.fromEntries(keys.map((key) => [key, value(key)]))
const parameters: Record<string, string> = {
  call_id: 'The call, as the data names it: 1 to 128 letters, digits, dots, underscores, tildes or hyphens.',
  id: 'The id in the data.',
  campaign_id: 'The campaign of the lead.',
  digest: 'Stands for the phone number: 32 hexadecimal digits of a keyed hash.'
}
const parametersOf = (address: string) =>
  map([...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name), (name) => ({ description: parameters[name] }))

/** AsyncAPI 3.0, as plain data. */
export function eventDocument () {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Ringledger events',
      version: '1.1.0',
      description: 'The streams of Ringledger in EventStoreDB. Call engines append CallCompleted; ' +
        'everything else is appended by Ringledger alone.\n' +
        'An event is written in the version that its message names (`x-schema-version`); ' +
        'older ones in the log have the schema `<event>.v<n>`.\n' +
        'Made from the schemas in src/domain by `npm run docs:events`.\n',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }
    },
    defaultContentType: 'application/json',
    servers,
    channels: Object.fromEntries(Object.entries(streams).map(([name, address]) => [name, {
      address,
      ...(address.includes('{') && { parameters: parametersOf(address) }),
      messages: map(typesOn(name), (type) => ({ $ref: `#/components/messages/${type}` }))
    }])),
    operations: {
      recordCall: operation(
        'receive', 'call', 'Ringledger records calls that an engine reports, and sends their webhooks.'
      ),
      ...map(Object.keys(streams).filter((name) => name !== 'call'), (name) =>
        operation('send', name, 'Appended by Ringledger.'))
    },
    components: {
      messages: messages(),
      schemas: { ...schemas(), Metadata: metadata }
    }
  }
}

const messages = () => Object.fromEntries(Object.entries(events).map(([type, event]) => [type, message(type, event)]))

const message = (type: string, { summary, description, examples }: Described) => ({
  name: type,
  title: type,
  summary,
  ...(description && { description }),
  'x-schema-version': currentVersion(type),
  headers: { $ref: '#/components/schemas/Metadata' },
  payload: { $ref: `#/components/schemas/${type}` },
  ...(examples && { examples })
})

/** The current version of each event under its name, former ones as `<name>.v<n>`. */
const schemas = () => Object.fromEntries(Object.entries(eventVersions).flatMap(([type, { schemas }]) =>
  schemas.map((schema, index) => [index + 1 === schemas.length ? type : `${type}.v${index + 1}`, schema])))

const operation = (action: 'send' | 'receive', channel: string, summary: string) =>
  ({ action, channel: { $ref: `#/channels/${channel}` }, summary })

/** The text of docs/asyncapi.yaml. */
export const eventDocumentText = () =>
  stringify(JSON.parse(JSON.stringify(eventDocument())), { lineWidth: 120, aliasDuplicateObjects: false })
