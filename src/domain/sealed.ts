// Which parts of which events the log seals, whose they are, and what is left once a key was erased.
import Type, { type Static } from 'typebox'
import { isObject, isUuid, uuid } from './json.js'

export const Sealed = Type.Object({
  person: Type.String({
    pattern: '^[^-]+-[^-]+$',
    description: 'The digests of user and phone number: the key is on the stream `person-<this>`.'
  }),
  key_id: Type.String({ pattern: uuid, description: 'A person may have had several keys, one after the other.' }),
  text: Type.String({ description: 'Encrypted with AES-256-GCM: nonce, tag and cipher text in base64.' })
}, {
  title: 'Sealed',
  description: 'What the event says of a person, under a key of its own. Once that was erased, nobody can read it.'
})
export type Sealed = Static<typeof Sealed>

/** A person as one user knows it; the digests hide who both are. */
export const personOf = (userDigest: string, numberDigest: string) => `${userDigest}-${numberDigest}`

export const personKeyStream = (person: string) => `person-${person}`

/** Undefined when the stream is no person's. Only a process with the key could check the digests. */
export const personIn = (stream: string) => /^person-([^-]+-[^-]+)$/.exec(stream)?.[1]

/** Data of an event, or a part of it. */
export type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields => isObject(value)

/** Two digests have 65 characters. Anybody can append anything: a longer name is refused, to save memory. */
const longestPerson = 200
const isPerson = (person: string) => person.length <= longestPerson && /^[^-]+-[^-]+$/.test(person)
const isKeyId = (keyId: string) => keyId.length === 36 && isUuid(keyId)

/** Undefined for any other shape: that stays where it is, and the event cannot be read. */
export function sealedIn (part: Fields): Sealed | undefined {
  const { sealed } = part
  if (!isFields(sealed)) return undefined
  const { person, key_id, text } = sealed
  if (typeof person !== 'string' || typeof key_id !== 'string' || typeof text !== 'string') return undefined
  return isPerson(person) && isKeyId(key_id) ? { person, key_id, text } : undefined
}

/** The person of a part: by the number itself, or by its digest in the name of the stream. */
export type Whose = { number: string } | { digest: string }

/** A part of an event that is about one person. */
export interface PersonalPart {
  /** Names from the data inwards; a list there has a part in each item. Empty for the data itself. */
  path: readonly string[]
  /** The fields that are sealed. */
  fields: readonly string[]
  whose (part: Fields, stream: string): Whose
  /** Replaces the fields once the key was erased. Absent, the part goes. */
  erased?: Fields
}

const ofStream = (_part: Fields, stream: string): Whose => ({ digest: stream.slice(stream.lastIndexOf('-') + 1) })
const ofNumber = ({ phone_number: number }: Fields): Whose => ({ number: String(number) })

const contacts = (...path: string[]): PersonalPart =>
  ({ path, fields: ['phone_number', 'variables'], whose: ofNumber })

/** The side that is not the assistant. Takes any text as a number, such as that of an anonymous caller. */
const ofCaller = ({ direction, from, to }: Fields): Whose =>
  ({ number: String(direction === 'outbound' ? to : from) })

/** By type of event, inner parts first. An item of a list goes alone; any other part takes the whole event with it. */
const parts: Readonly<Record<string, readonly PersonalPart[]>> = {
  CallCompleted: [{
    path: [],
    fields: ['from', 'to', 'recording_url', 'transcript', 'input_variables', 'extracted_variables', 'evaluation'],
    whose: ofCaller
  }],
  LeadCreated: [
    contacts('secondary_contacts'),
    { path: [], fields: ['phone_number', 'variables'], whose: ofStream }
  ],
  LeadUpdated: [
    contacts('changes', 'secondary_contacts'),
    { path: ['changes'], fields: ['variables'], whose: ofStream }
  ],
  PhoneNumberBlacklisted: [{
    path: [],
    fields: ['phone_number', 'reason'],
    whose: ofStream,
    erased: { phone_number: null, reason: null } // the entry holds: its stream says whose it is
  }],
  PhoneNumberUnblacklisted: [{ path: [], fields: ['phone_number'], whose: ofStream, erased: {} }]
}

const byType = new Map(Object.entries(parts))

export const saysOfPersons = (type: string) => byType.has(type)

/** Call engines append version 1 of this type, and seal nothing. */
export const engineType = 'CallCompleted'

/** Empty for a type that says nothing of persons, and for a report of an engine. */
export function personalParts (
  { type, metadata: { schema_version: version = '1' } }: { type: string, metadata: Readonly<Record<string, string>> }
): readonly PersonalPart[] {
  return type === engineType && version === '1' ? [] : byType.get(type) ?? []
}

/** A part, and the place that its sealed text is bound to. */
interface Found { part: Fields, place: string }

/** Returns the new part; undefined removes it. */
type Change = (found: Found) => Fields | undefined

/**
 * Changes each part at this path; undefined when the data itself goes. What is missing, or has another shape, stays as
 * it is.
 */
export function changeParts (
  value: Fields, path: readonly string[], change: Change, place = ''
): Fields | undefined {
  const [name, ...rest] = path
  if (name === undefined) return change({ part: value, place })
  const inner = value[name]
  const at = place === '' ? name : `${place}.${name}`
  if (Array.isArray(inner)) {
    const items = inner.flatMap((item: unknown) =>
      isFields(item) ? changeParts(item, rest, change, `${at}.${String(item.id)}`) ?? [] : [item])
    return { ...value, [name]: items }
  }
  if (!isFields(inner)) return value
  const changed = changeParts(inner, rest, change, at)
  return changed && { ...value, [name]: changed }
}

/** What is left of an event whose key was erased. */
interface Left { type: string, data: Fields }

const idsIn = (items: unknown): unknown[] => Array.isArray(items) ? items.filter(isFields).map(({ id }) => id) : []

function ofLead ({ lead_id, user_id, campaign_id }: Fields, contacts: unknown, erased_at: unknown): Left {
  const data = { lead_id, user_id, campaign_id, with_lead: true, contact_ids: idsIn(contacts), erased_at }
  return { type: 'LeadErased', data }
}

const left: Readonly<Record<string, (data: Fields) => Left>> = {
  LeadCreated: (data) => ofLead(data, data.secondary_contacts, data.created_at),
  LeadUpdated: (data) => ofLead(data, isFields(data.changes) ? data.changes.secondary_contacts : [], data.updated_at),
  CallCompleted: ({ sealed: _, ...call }) => ({ type: 'CallErased', data: { ...call, erased_at: call.ended_at } })
}

interface Event { type: string, data: unknown, metadata: Record<string, string> }

/** The event without what is sealed. Its metadata has the type that it has in the log. */
export function leftOf<Unreadable extends Event> (event: Unreadable): Unreadable {
  const { type, data, metadata } = event
  const found = isFields(data) ? left[type]?.(data) : undefined
  return { ...event, ...found ?? { type: 'Erased', data: {} }, metadata: { ...metadata, schema_version: '1', was: type } }
}

/** The type of the event in the log, even if that cannot be read any longer. */
export const typeInLog = ({ type, metadata: { was } }: Pick<Event, 'type' | 'metadata'>): string => was ?? type

/** Whether the key of the event is gone. */
export const isUnreadable = ({ metadata: { was } }: Pick<Event, 'metadata'>): boolean => was !== undefined

/**
 * Compares a list of contacts as stored and as opened: the ids of those that cannot be read, and their places, from 1.
 * Undefined when all can be read.
 */
export function contactsWithoutKey (stored: Fields, opened: Fields): Fields | undefined {
  const [all, left] = [contactsIn(stored), contactsIn(opened)]
  if (all.length === left.length) return undefined
  const known = new Set(left)
  const erased = all.map((id, index) => ({ id, place: index + 1 })).filter(({ id }) => !known.has(id))
  return { erased_contacts: erased.map(({ id }) => id), erased_places: erased.map(({ place }) => place) }
}

const contactsIn = ({ secondary_contacts, changes }: Fields) =>
  [...idsIn(secondary_contacts), ...idsIn(isFields(changes) ? changes.secondary_contacts : [])]
