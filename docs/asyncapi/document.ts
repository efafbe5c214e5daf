// The AsyncAPI document of every event, made from the schemas that decode them; docs/asyncapi.yaml is its text.
import type { TSchema } from 'typebox'
import { stringify } from 'yaml'
import { currentVersion, eventVersions } from '../../src/domain/events.js'
import type { Versions } from '../../src/domain/upcast.js'
import { shown, type Named } from '../../src/http/docs/document.js'
import { events, streams, type Described } from './events.js'

// Where the streams of the AsyncAPI document are.
const servers = {
  embedded: {
    host: '127.0.0.1:{port}',
    protocol: 'esdb',
    title: 'The event store of `ringledger start`',
    description: 'Without EVENTSTORE_URL. Connect to `esdb://127.0.0.1:{port}?tls=false`; there is no login, and only ' +
      'programs on the same machine reach it.',
    variables: {
      port: { default: '2113', description: 'EMBEDDED_EVENTSTORE_PORT; `start` prints it, and keeps it.' }
    }
  },
  own: {
    host: '{host}',
    protocol: 'esdb',
    title: 'An EventStoreDB or KurrentDB of your own',
    description: 'With EVENTSTORE_URL: the same URL, with a login of the engine that may write streams `call-...`.',
    variables: {
      host: { default: 'localhost:2113', description: 'A node, or the members of a cluster with commas between them.' }
    }
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
  user_digest: 'Stands for the user: 32 hexadecimal digits of a keyed hash.',
  number_digest: 'Stands for the phone number, likewise.',
  campaign_id: 'The campaign of the lead.',
  digest: 'Stands for the phone number: 32 hexadecimal digits of a keyed hash.'
}
const parametersOf = (address: string) =>
  map([...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name), (name) => ({ description: parameters[name] }))

/** AsyncAPI 3.0, as plain data. */
function eventDocument () {
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

const message = (type: string, { summary, versionOfOthers, description, examples }: Described) => ({
  name: type,
  title: type,
  summary,
  ...(description && { description }),
  'x-schema-version': versionOfOthers === undefined ? currentVersion(type) : String(versionOfOthers),
  headers: { $ref: '#/components/schemas/Metadata' },
  payload: { $ref: `#/components/schemas/${type}` },
  ...(examples && { examples })
})

/**
 * The current version of each event under its name, former ones as `<name>.v<n>`, and what they are made of: as the log
 * holds them.
 */
function schemas () {
  const named: Named = {}
  const all = Object.entries(eventVersions).flatMap(([type, versions]) => inLog(versions).map((schema, index) =>
    [nameOf(type, index + 1), shown(schema, named)]))
  return { ...Object.fromEntries(all), ...named }
}

/** Of the schema of a version: the one that is written now, or that others write, has the name of the event. */
function nameOf (type: string, version: number): string {
  const { versionOfOthers }: Partial<Described> = Object.entries(events).find(([name]) => name === type)?.[1] ?? {}
  const isShown = version === (versionOfOthers ?? Number(currentVersion(type)))
  return isShown ? type : `${type}.v${version}`
}

/** Every version, the current one sealed where it is. */
const inLog = ({ schemas, stored }: Pick<Versions<unknown>, 'schemas' | 'stored'>): readonly TSchema[] =>
  stored ? [...schemas.slice(0, -1), stored] : schemas

const operation = (action: 'send' | 'receive', channel: string, summary: string) =>
  ({ action, channel: { $ref: `#/channels/${channel}` }, summary })

/** The text of docs/asyncapi.yaml. */
export const eventDocumentText = () =>
  stringify(JSON.parse(JSON.stringify(eventDocument())), { lineWidth: 120, aliasDuplicateObjects: false })
