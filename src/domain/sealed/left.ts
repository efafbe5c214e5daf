// What readers have of an event about a person whose key was erased: what is plain in it, as the event that an erasure
// leaves, where the log has it. So a replay learns whose ids these were when everybody else did.
import { isFields, type Fields } from './sealed.js'

/** As the log has it, and what stands for it. */
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

/** The event as it is without what is sealed. Its metadata says what it is in the log. */
export function leftOf<Unreadable extends Event> (event: Unreadable): Unreadable {
  const { type, data, metadata } = event
  const found = isFields(data) ? left[type]?.(data) : undefined
  return { ...event, ...found ?? { type: 'Erased', data: {} }, metadata: { ...metadata, schema_version: '1', was: type } }
}

/** Of an event that was read: that of the event in the log, also where that cannot be read any more. */
export const typeInLog = ({ type, metadata: { was } }: Pick<Event, 'type' | 'metadata'>): string => was ?? type

/** Whether the log has the event, but nobody has the key. */
export const isUnreadable = ({ metadata: { was } }: Pick<Event, 'metadata'>): boolean => was !== undefined

/**
 * Where a list of contacts was, as it is stored and as it can be read: the ids of those that cannot, and their places,
 * from 1. Nothing where all can be read.
 */
export function contactsWithoutKey (stored: Fields, opened: Fields): Fields | undefined {
  const [all, left] = [contactsIn(stored), contactsIn(opened)]
  if (all.length === left.length) return undefined
  const known = new Set(left)
  const erased = all.map((id, index) => ({ id, place: index + 1 })).filter(({ id }) => !known.has(id))
  return { erased_contacts: erased.map(({ id }) => id), erased_places: erased.map(({ place }) => place) }
}

/** Of those who can be read, among all of the list. */
export function placesBeside (contacts: readonly unknown[], erased: readonly number[] = []): number[] {
  const all = Array.from({ length: contacts.length + erased.length }, (_, index) => index + 1)
  return all.filter((place) => !erased.includes(place))
}

const contactsIn = ({ secondary_contacts, changes }: Fields) =>
  [...idsIn(secondary_contacts), ...idsIn(isFields(changes) ? changes.secondary_contacts : [])]
