// Seals the personal data of events for the log, and opens it for the service.
import {
  changeParts, contactsWithoutKey, engineType, type Fields, isFields, leftOf, type PersonalPart, personalParts,
  saysOfPersons, type Sealed, sealedIn, type Whose
} from '../domain/sealed.js'
import type { DomainEvent } from '../domain/events.js'
import type { StoredEvent } from '../domain/stored-event.js'
import type { Proposed } from '../log/connection.js'
import type { Codec } from '../log/event-log.js'
import type { PersonKeys, KeyName } from './person-keys.js'
import { openText, sealText } from './sealed-text.js'

/**
 * `seal` throws as `toSealFor`, `open` as `toOpen`.
 * @param digest replaces a phone number in stream names
 */
export const personCodec = (keys: PersonKeys, digest: (phoneNumber: string) => string): Codec => ({
  seal: (stream, events) => sealEvents(keys, digest, stream, events),
  open: (events) => openEvents(keys, events),
  changes: saysOfPersons,
  ownTypes: keyTypes,
  learn: (events) => keys.learn(events)
})

/** Followers do not get these events: only the codec reads them. */
export const keyTypes: readonly string[] = ['PersonKeyCreated', 'PersonKeyErased'] satisfies Array<DomainEvent['type']>

async function sealEvents (
  keys: PersonKeys, digest: (phoneNumber: string) => string, stream: string, events: readonly Proposed[]
): Promise<readonly Proposed[]> {
  const persons = new Map<string, string>() // cache: every part is visited twice
  const personIn = ({ data, ofUser }: Proposed, whose: Whose): string | undefined => {
    const userId = isFields(data) && 'user_id' in data ? data.user_id : ofUser
    if (typeof userId !== 'string') return undefined
    const name = `${userId} ${'digest' in whose ? whose.digest : whose.number}`
    const person = persons.get(name) ??
      keys.personOf(userId, 'digest' in whose ? whose.digest : digest(whose.number))
    persons.set(name, person)
    return person
  }
  for (const event of events) {
    changed(event, stream, ({ part, kind, whose }) => {
      if (kind.fields.some((name) => name in part)) personIn(event, whose)
      return part
    })
  }
  if (persons.size === 0) return events
  const found = await keys.toSealFor([...persons.values()], events.some(({ type }) => type === 'LeadCreated'))
  return events.map((event) => ({
    ...event,
    data: changed(event, stream, ({ part, kind, place, whose }) => {
      const key = found.get(personIn(event, whose) ?? '')
      const [personal, rest] = split(part, kind.fields)
      if (!key || Object.keys(personal).length === 0) return part
      const text = sealText(key.key, placeOf({ ...event, stream }, place), personal)
      return { ...rest, sealed: { person: key.person, key_id: key.keyId, text } satisfies Sealed }
    }) ?? event.data
  }))
}

/** Opens the personal data whose keys still exist. @throws as `toOpen` */
export async function openEvents (
  keys: Pick<PersonKeys, 'toOpen'>, events: readonly StoredEvent[]
): Promise<StoredEvent[]> {
  const names: KeyName[] = []
  for (const event of events) {
    changed(event, event.stream, ({ part }) => {
      const sealed = sealedIn(part)
      if (sealed) names.push({ person: sealed.person, keyId: sealed.key_id })
      return part
    })
  }
  const found = names.length === 0 ? new Map<string, Buffer>() : await keys.toOpen(names)
  return events.map((event) => openEvent(event, found))
}

/**
 * Marks an event of ours whose personal data is not sealed, and `decode` refuses it: an erasure could not reach it.
 * @param keys by id; a missing one was erased
 */
export function openEvent (event: StoredEvent, keys: ReadonlyMap<string, Buffer>): StoredEvent {
  if (!isFields(event.data) || personalParts(event).length === 0) return event
  let isPlain = false
  const data = changed(event, event.stream, ({ part, kind, place }) => {
    const sealed = sealedIn(part)
    if (!sealed) {
      isPlain ||= event.type !== engineType && kind.fields.some((name) => part[name] != null)
      return part
    }
    const key = keys.get(sealed.key_id)
    const { sealed: _sealed, ...rest } = part
    const personal = key ? openText(key, placeOf(event, place), sealed.text) : kind.erased
    if (key && !personal) return part // tampered with, so unreadable
    return personal && { ...rest, ...personal }
  })
  if (isPlain) return { ...event, metadata: { ...event.metadata, unsealed: 'true' } }
  if (!data) return leftOf(event)
  const erased = contactsWithoutKey(event.data, data)
  return { ...event, data: erased ? { ...data, ...erased } : data }
}

interface Part { part: Fields, kind: PersonalPart, place: string, whose: Whose }

/** Changes each personal part of the data; undefined when all of it goes. */
function changed (
  { data, ...event }: Pick<StoredEvent, 'type' | 'data' | 'metadata'>, stream: string,
  change: (part: Part) => Fields | undefined
): Fields | undefined {
  if (!isFields(data)) return undefined
  return personalParts(event).reduce<Fields | undefined>((before, kind) => before && changeParts(before, kind.path,
    ({ part, place }) => change({ part, kind, place, whose: kind.whose(part, stream) })), data)
}

function split (part: Fields, names: readonly string[]): [chosen: Fields, rest: Fields] {
  const entries = Object.entries(part)
  return [
    Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    Object.fromEntries(entries.filter(([name]) => !names.includes(name)))
  ]
}

/** Additional authenticated data: a sealed text opens only in this place of this event. */
const placeOf = ({ id, stream, type }: { id: string, stream: string, type: string }, place: string) =>
  [type, stream, id, place].join(' ')
