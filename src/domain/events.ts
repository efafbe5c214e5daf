// Every version of each event type and the stream that it belongs to, how stored data of any version becomes a typed
// event again, and the shape of aggregates.
import Type, { type TSchema, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { apiKeyEvents, apiKeyStream, tokenEvents, tokenStream } from '../features/api-keys/events.js'
import {
  type AssistantEvent, assistantEvents, assistantEventTypes, assistantStream
} from '../features/assistants/events.js'
import {
  type BlacklistEvent, blacklistEvents, blacklistEventTypes, isBlacklistStream
} from '../features/blacklist/events.js'
import { callEvents, callStream } from '../features/calls/events.js'
import { campaignEvents, campaignStream } from '../features/campaigns/events.js'
import { catalogEvents, catalogStreams } from '../features/catalog/events.js'
import { leadImportEvents, leadImportStream } from '../features/imports/events.js'
import { leadEvents, leadStream } from '../features/leads/events.js'
import {
  personKeyEvents, type PersonRequestEvent, personRequestEvents, personRequestEventTypes, personRequestStream
} from '../features/persons/events.js'
import {
  holderEvents, phoneHolderStream, phoneNumberEvents, phoneNumberStream
} from '../features/phone-numbers/events.js'
import { isNestedDeeper, Instant, member, uuid } from './json.js'
import { personIn } from './sealed.js'
import type { StoredEvent } from './stored-event.js'
import { type EventOf, firstVersion } from './upcast.js'

const Given = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

/** How far the webhook dispatcher and the ids of one database have come, written into the log itself. */
export const DispatcherCheckpointed = Type.Object({
  incarnation: Type.String({
    pattern: uuid,
    description: 'The database that the dispatcher works on: made once in each, and copied with a backup.'
  }),
  checkpoint: Type.String({
    pattern: '^(0|[1-9][0-9]*)$',
    description: 'Every call up to this position has its webhook delivery. ' +
      'A position of the event store that the event was first written to.'
  }),
  assistant_ids: Given('No higher assistant id was given out; 0 for none.'),
  lead_ids: Given('No higher id of a lead or secondary contact was given out; 0 for none.'),
  campaign_ids: Type.Optional(Given('No higher campaign id was given out; 0, or absent, for none.')),
  phone_number_ids: Type.Optional(Given('No higher id of a phone number was given out; 0, or absent, for none.')),
  api_key_ids: Type.Optional(Given('No higher id of an API key was given out; 0, or absent, for none.')),
  blacklist_ids: Type.Optional(Given('No higher id of a do-not-call entry was given out; 0, or absent, for none.')),
  at: Instant()
})
export type DispatcherCheckpointed = Static<typeof DispatcherCheckpointed>

export const markerStream = 'ringledger-marker'

/** Every version of each type. `schema_version` of the metadata says which one was written; without it, 1 was. */
export const eventVersions = {
  ...assistantEvents,
  ...leadEvents,
  ...leadImportEvents,
  ...callEvents,
  ...catalogEvents,
  ...campaignEvents,
  ...phoneNumberEvents,
  ...holderEvents,
  ...apiKeyEvents,
  ...tokenEvents,
  ...blacklistEvents,
  ...personRequestEvents,
  ...personKeyEvents,
  DispatcherCheckpointed: firstVersion(DispatcherCheckpointed)
}
export type DomainEvent = EventOf<typeof eventVersions>
export type EventType = DomainEvent['type']

/** By type and version: the validator, and the upcasts to the current version. */
const readers = new Map(Object.entries(eventVersions).map(([type, { schemas, upcasts }]) => [type, new Map(
  schemas.map((schema, nth) => [String(nth + 1), { schema, validator: compiled(schema), upcasts: upcasts.slice(nth) }])
)]))

/** Compiles at the first use: most processes see events of few types. */
function compiled (schema: TSchema) {
  let validator: ReturnType<typeof Compile> | undefined
  return () => validator ??= Compile(schema)
}

/** The version in which new events of this type are written. */
export function currentVersion (type: string): string {
  const versions = readers.get(type)
  if (!versions) throw new Error(`${type} is no event type`)
  return String(versions.size)
}

/** A bug of ours: the event could not be read again. */
class UnsoundEvent extends Error {
  override readonly name = 'UnsoundEvent'
}

/** Checks an event before its append, against the current version of its type. @throws UnsoundEvent */
export function assertSound ({ type, data }: Pick<DomainEvent, 'type' | 'data'>): void {
  const validator = readers.get(type)?.get(currentVersion(type))?.validator()
  if (!validator || validator.Check(data)) return
  const [first] = validator.Errors(data)
  throw new UnsoundEvent(`${type}: ${first?.instancePath || 'data'} ${first?.message}`)
}

/** JSON.stringify and Postgres refuse deep nesting, each from its own depth of some thousand levels on. */
const deepest = 500

/** A stored event has another shape than its type and version, an unknown version, or the wrong stream. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
  /** `isOfLater`: it can be read once the release that wrote it runs everywhere. */
  constructor (message: string, readonly isOfLater = false) {
    super(message)
  }
}

type Decodable = Pick<StoredEvent, 'type' | 'data' | 'metadata' | 'stream' | 'revision'>

/**
 * The event that `stored` holds, in the current version of its type; undefined when its type is not one of ours.
 * @throws DecodeError naming the fields that do not fit, the version that only a later release knows, or the stream
 * where it does not belong: anybody who reaches the event store can append anything anywhere
 */
export function decode ({ type, data, metadata, stream, revision }: Decodable): DomainEvent | undefined {
  const versions = readers.get(type)
  if (!versions) return undefined
  const { schema_version: written = '1', unsealed } = metadata
  if (unsealed !== undefined) throw new DecodeError(`${type} at ${stream}@${revision}: what it says of a person is not sealed`)
  const reader = versions.get(written)
  if (!reader) {
    const unknown = `schema_version ${written} is not known to this release`
    throw new DecodeError(`${type} at ${stream}@${revision}: ${unknown}; its latest is ${versions.size}`, /^\d+$/.test(written))
  }
  if (!reader.validator().Check(data)) {
    const misfits = misfitsInWords(reader.schema, data, reader.validator().Errors(data))
    throw new DecodeError(`${type} at ${stream}@${revision}: ${misfits}`)
  }
  if (isNestedDeeper(data, deepest)) {
    throw new DecodeError(`${type} at ${stream}@${revision}: nested more than ${deepest} levels deep`)
  }
  // The check above and the types of `Versions` make this true; the compiler cannot follow them across the map.
  const current = reader.upcasts.reduce<unknown>((earlier, upcast) => upcast(earlier as never), data)
  const event = { type, data: current } as DomainEvent
  if (!isAtHome(event, stream)) throw new DecodeError(`${type} does not belong on the stream ${stream}`)
  return event
}

/** Whether the event is on the stream where it belongs. */
function isAtHome (event: DomainEvent, stream: string): boolean {
  if (isOf<AssistantEvent>(assistantEventTypes, event)) return stream === assistantStream(event.data.assistant_id)
  if (isOf<BlacklistEvent>(blacklistEventTypes, event)) return isBlacklistStream(stream)
  if (isOf<PersonRequestEvent>(personRequestEventTypes, event)) {
    return stream === personRequestStream(event.data.person_request_id)
  }
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
    case 'PersonKeyErased': return personIn(stream) !== undefined
    case 'VoiceAdded': return stream === catalogStreams.voices
    case 'LanguageAdded': return stream === catalogStreams.languages
    case 'ModelAdded': return stream === catalogStreams.models
    case 'DispatcherCheckpointed': return stream === markerStream
    default: return type satisfies never
  }
}

export const isOf = <Event extends DomainEvent>(types: readonly Event['type'][], event: DomainEvent): event is Event =>
  types.some((type) => type === event.type)

/** For readers that go on without an event that cannot be read; `problem` says why it cannot. */
export function tryDecode (stored: Decodable): { event?: DomainEvent | undefined, problem?: string } {
  try {
    return { event: decode(stored) }
  } catch (error) {
    if (error instanceof DecodeError) return { problem: error.message }
    throw error
  }
}

/** An error of the validator, which reports only a few of one event. */
interface Misfit {
  keyword: string
  schemaPath: string
  instancePath: string
  message: string
}

/** Each field that is wrong, once, by its path. */
function misfitsInWords (schema: object, data: unknown, misfits: readonly Misfit[]): string {
  if (data instanceof Uint8Array) return 'data is no JSON, or its content type is not application/json'
  const byField = new Map<string, Set<string>>()
  for (const { keyword, schemaPath, instancePath, message } of misfits) {
    if (keyword === 'anyOf') continue // its branches are reported one by one
    const field = instancePath || 'data'
    const words = keyword === 'pattern' ? wordsAt(schema, schemaPath) : undefined
    byField.set(field, (byField.get(field) ?? new Set()).add(words ?? message))
  }
  return [...byField].map(([field, messages]) => `${field} ${[...messages].join(' or ')}`).join('; ')
}

/** The schema's own message for a text that does not match. */
function wordsAt (schema: object, path: string): string | undefined {
  const part = path.split('/').slice(1).reduce<unknown>(member, schema)
  const words = member(part, 'x-message')
  return typeof words === 'string' ? words : undefined
}

// The shape of every aggregate: how its events add up, and which events a command appends.

/** Folds the events of a stream to a state. Skips events of other types. */
export interface Aggregate<State, Event extends { type: string }> {
  initialState: State
  eventTypes: readonly Event['type'][]
  /** The state after one more event. Total: an event that was accepted once is never refused. */
  evolve (state: State, event: Event): State
  /** Names this aggregate if several fold the same stream. */
  part?: string
  /** Its streams are written once: no state is cached. */
  isWrittenOnce?: true
  /** Skips what cannot be read after the event that created something. */
  skipsUnreadable?: true
  /** Bytes of one encoded event; 900 KiB when absent, which every server version takes with its metadata. */
  largestEvent?: number
}

export interface Decider<State, Event extends { type: string }, Command> extends Aggregate<State, Event> {
  /** The events that the command leads to, none when nothing changes. @throws Rejection */
  decide (command: Command, state: State): Event[]
}

/** One decider for several commands, with a function for each type. */
export const deciding = <
  State, Event extends { type: string }, Decisions extends Record<string, (command: never, state: State) => Event[]>
>(aggregate: Aggregate<State, Event>, decisions: Decisions): Decider<
  State, Event, { [Type in keyof Decisions]: { type: Type } & Parameters<Decisions[Type]>[0] }[keyof Decisions]
> => ({
    ...aggregate,
    decide: (command: { type: keyof Decisions }, state) => decisions[command.type]?.(command as never, state) ?? []
  })

/** Comes with every command of a user. Made outside, so that a decision is pure. */
export interface Circumstances {
  userId: string
  /** Reserved for what the command creates. */
  ids: readonly number[]
  /** ISO 8601. */
  now: string
}

/** Folds events onto the initial state, or onto the state `before` them. */
export function fold<State, Event extends { type: string }> (
  aggregate: Aggregate<State, Event>, events: readonly Event[], before = aggregate.initialState
): State {
  return events.reduce((state, event) => aggregate.evolve(state, event), before)
}

/** The reserved id with this index. @throws when fewer were reserved */
export function idAt (ids: readonly number[], index: number): number {
  const id = ids[index]
  if (id === undefined) throw new RangeError(`${ids.length} ids were reserved, and number ${index + 1} is asked for`)
  return id
}

/** The later of two instants, in the notation that it came in. */
export const laterOf = (one: string, other: string) => Date.parse(other) > Date.parse(one) ? other : one
