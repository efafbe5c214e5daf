// What each event says of persons: which fields, and who the person is.
import type { Fields } from './sealed.js'

/** Whose part it is: told by the number itself, or by its digest in the name of the stream. */
export type Whose = { number: string } | { digest: string }

/** A part of an event that is about one person. */
export interface PersonalPart {
  /** Names from the data inwards; a list there has a part in each item. Empty for the data itself. */
  path: readonly string[]
  /** Those that are sealed. */
  fields: readonly string[]
  whose (part: Fields, stream: string): Whose
  /** What stands for the fields once the key was erased. Absent, the part goes. */
  erased?: Fields
}

const ofStream = (_part: Fields, stream: string): Whose => ({ digest: stream.slice(stream.lastIndexOf('-') + 1) })
const ofNumber = ({ phone_number: number }: Fields): Whose => ({ number: String(number) })

const contacts = (...path: string[]): PersonalPart =>
  ({ path, fields: ['phone_number', 'variables'], whose: ofNumber })

/** The one who is not the assistant. What is no number, such as that of an anonymous caller, is taken as it is. */
const ofCaller = ({ direction, from, to }: Fields): Whose =>
  ({ number: String(direction === 'outbound' ? to : from) })

/**
 * By type of event. Inner parts come first. An item of a list goes alone, and with any other part the whole event.
 */
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

/** Nothing for a type that says nothing of persons, and for a report of an engine. */
export function personalParts (
  { type, metadata: { schema_version: version = '1' } }: { type: string, metadata: Readonly<Record<string, string>> }
): readonly PersonalPart[] {
  return type === engineType && version === '1' ? [] : byType.get(type) ?? []
}
