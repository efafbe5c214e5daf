// Filters that several lists take: how a phone number begins, a search, and what changed since.
import Type from 'typebox'
import { inWords, withoutNul } from '../../domain/json.js'
import { DayOrInstant } from '../input/day-or-instant.js'

/** The plus sign of a query string that is not percent-encoded arrives as a space. */
const number = /^[+ ]?[1-9]\d{0,14}$/

export const PhoneBeginning = (what: string) => Type.String({
  pattern: number.source,
  description: `The beginning of ${what}, with or without its plus sign.`,
  examples: ['+1555'],
  ...inWords('must be the beginning of a phone number, such as +1555')
})

/** Of lists of numbers. */
export const numberSearch = { search: Type.Optional({ ...PhoneBeginning('the phone number'), title: 'NumberSearch' }) }

/** With its plus sign. */
export const beginningOf = (phoneNumber: string | undefined) => phoneNumber?.replace(/^[+ ]?/, '+')

/** One sentence for all lists that are searched by words. */
export const Search = (what: string, more = '') => Type.String({
  minLength: 1,
  maxLength: 255,
  description: `The beginnings of words of the ${what}, whatever their case and accents; where several are given, one ` +
    `has them all. \`Neil\`, \`O'Neil\` and \`oneil\` find O'Neil. ${more}`.trim(),
  ...withoutNul
})

/** Of lists of things with a name of their own. */
export const nameSearch = { search: Type.Optional({ ...Search('name'), title: 'NameSearch' }) }

export const isNumber = (text: string) => number.test(text)

/** What looks like a number is one. */
export const searched = (text: string | undefined) => text !== undefined && isNumber(text)
  ? { searchedPrefix: beginningOf(text) }
  : { searched: text }

const since = 'Only those that changed on this day (UTC) or later, or at this instant or later'

export const updatedFrom = { updated_from: Type.Optional(DayOrInstant(`${since}.`)) }

/** `why` is what else than their own events changes what is shown. */
export const updatedFromAlso = (why: string) => ({ updated_from: Type.Optional(DayOrInstant(`${since}, also ${why}.`)) })
