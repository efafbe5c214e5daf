// Filters that several lists take: how a phone number begins, a search, days and instants.
import Type, { type Static, type TObject } from 'typebox'
import { documentedAs, Id, inWords, withoutNul } from '../domain/json.js'
import type { FieldErrors } from '../domain/rejection.js'
import { CallId } from '../features/calls/events.js'
import { DeliverySummary } from '../features/webhooks/model.js'
import { outcomes } from '../features/webhooks/outcome.js'

/** The name of the format in AJV. */
export const dayOrInstant = 'day-or-instant'

/** The plus sign of an offset that is not percent-encoded arrives as a space. */
const withPlus = (text: string) => text.replace(/ (?=\d\d:\d\d$)/, '+')

const shape = /^([12]\d{3}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/

/** Whether `text` is a day of the calendar, or an instant with an offset, that Postgres can compare with. */
export function isDayOrInstant (given: string): boolean {
  const text = withPlus(given)
  const day = shape.exec(text)?.[1]
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) // JavaScript takes February 31 for March 3
}

/** The beginning of the day, or the instant itself. */
export function earliest (text: string): string
export function earliest (text: string | undefined): string | undefined
export function earliest (text: string | undefined): string | undefined {
  return text && new Date(withPlus(text)).toISOString()
}

/**
 * The end of the day, or of the millisecond, in the microseconds that Postgres keeps. Answers show milliseconds, so a
 * filter by an instant that was read must include the row that it was read from.
 */
export function latest (text: string): string
export function latest (text: string | undefined): string | undefined
export function latest (text: string | undefined): string | undefined {
  return text?.length === 10 ? `${text}T23:59:59.999999Z` : earliest(text)?.replace('Z', '999Z')
}

/** Errors of two dates in a query string that are each valid. */
export function rangeErrors ({ date_from: from, date_to: to }: Record<string, unknown>): FieldErrors {
  const isRange = typeof from === 'string' && typeof to === 'string' && isDayOrInstant(from) && isDayOrInstant(to)
  return isRange && isReversed(from, to) ? { date_to: ['must not be before date_from'] } : {}
}

export const isReversed = (from: string, to: string) => Date.parse(latest(to)) < Date.parse(earliest(from))

/** A day in UTC, or an instant. */
export const DayOrInstant = (description: string) => Type.String({
  format: dayOrInstant,
  ...documentedAs({ type: 'string', pattern: shape.source.replace('[+-]', '[ +-]') }),
  description,
  examples: ['2026-01-31'],
  ...inWords('must be a day such as 2026-01-31, or an instant such as 2026-01-31T12:00:00Z, in the years 1000 to 2999')
})

/** The query parameters `date_from` and `date_to`; `what` is what happened to an item then. */
export const dateRange = (what: string) => ({
  date_from: Type.Optional(DayOrInstant(`Only those ${what} on this day (UTC) or later, or at this instant or later.`)),
  date_to: Type.Optional(DayOrInstant(`Only those ${what} on this day (UTC) or earlier, or at this instant or earlier. ` +
    'Keeps pages as they are while others are added.'))
})

/** The plus sign of a query string that is not percent-encoded arrives as a space. */
const number = /^[+ ]?[1-9]\d{0,14}$/

export const PhoneBeginning = (what: string) => Type.String({
  pattern: number.source,
  description: `The beginning of ${what}, with or without its plus sign.`,
  examples: ['+1555'],
  ...inWords('must be the beginning of a phone number, such as +1555')
})

/** For lists of phone numbers. */
export const numberSearch = { search: Type.Optional({ ...PhoneBeginning('the phone number'), title: 'NumberSearch' }) }

/** Adds the plus sign. */
export const beginningOf = (phoneNumber: string | undefined) => phoneNumber?.replace(/^[+ ]?/, '+')

/** One description for all lists that are searched by words. */
export const Search = (what: string, more = '') => Type.String({
  minLength: 1,
  maxLength: 255,
  description: `The beginnings of words of the ${what}, whatever their case and accents; where several are given, one ` +
    `has them all. \`Neil\`, \`O'Neil\` and \`oneil\` find O'Neil. ${more}`.trim(),
  ...withoutNul
})

/** For lists of things that have a name. */
export const nameSearch = { search: Type.Optional({ ...Search('name'), title: 'NameSearch' }) }

export const isNumber = (text: string) => number.test(text)

/** A text that looks like a phone number searches by number. */
export const searched = (text: string | undefined) => text !== undefined && isNumber(text)
  ? { searchedPrefix: beginningOf(text) }
  : { searched: text }

const since = 'Only those that changed on this day (UTC) or later, or at this instant or later'

export const updatedFrom = { updated_from: Type.Optional(DayOrInstant(`${since}.`)) }

/** `why` says what changes an item besides its own events. */
export const updatedFromAlso = (why: string) => ({ updated_from: Type.Optional(DayOrInstant(`${since}, also ${why}.`)) })

/** For deliveries, of one user or of all. */
export const deliveryFilters = {
  assistant_id: Type.Optional(Id({ description: 'Only those of this assistant.' })),
  call_id: Type.Optional(Type.String({ ...CallId, description: 'Only that of this call.' })),
  status: Type.Optional(DeliverySummary.properties.status),
  outcome: Type.Optional(Type.Enum([...outcomes], { title: 'AttemptOutcome', description: 'How the newest attempt ended.' })),
  status_code: Type.Optional(Type.Integer({
    minimum: 100, maximum: 999, description: 'What the receiver answered to that attempt.'
  })),
  ...dateRange('made')
}

export function deliveryFilterOf (query: Static<TObject<typeof deliveryFilters>>) {
  const { assistant_id: assistantId, call_id: callId, status, outcome, status_code: statusCode } = query
  const times = { createdFrom: earliest(query.date_from), createdTo: latest(query.date_to) }
  return { assistantId, callId, status, outcome, statusCode, ...times }
}
