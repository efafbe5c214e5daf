// Cursors: where a list goes on, as a text that callers take from one answer to the next request.
import { isUuid } from '../../domain/json.js'

/** How a key of a row is written: what Postgres would not take is not taken here. */
const isKey = {
  time: (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text) && isInCalendar(text.slice(0, 19)),
  whole: (text: string) => /^\d{1,19}$/.test(text) && BigInt(text) < 2n ** 63n,
  uuid: isUuid,
  text: (text: string) => !text.includes('\0') && text.isWellFormed()
}
export type KeyKind = keyof typeof isKey

/** Raised when the order of a list changes: cursors of before are refused then. */
const version = 1

/** JavaScript takes February 31 for March 3, and the hour 24 for the next day. */
function isInCalendar (time: string): boolean {
  const at = new Date(`${time}Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(time)
}

/** The cursor behind the row with these keys. */
export const cursorOf = (list: string, keys: readonly string[]): string =>
  Buffer.from(JSON.stringify([version, list, ...keys])).toString('base64url')

/** The keys that a cursor of this list names; nothing when it is not one that we made. */
export function keysIn (cursor: string, list: string, kinds: readonly KeyKind[]): string[] | undefined {
  const parts = partsOf(cursor)
  if (parts?.length !== 2 + kinds.length || parts[0] !== version || parts[1] !== list) return undefined
  const keys = parts.slice(2).filter((key) => typeof key === 'string')
  const isOurs = kinds.every((kind, index) => isKey[kind](keys[index] ?? '\0')) && cursor === cursorOf(list, keys)
  return isOurs ? keys : undefined
}

function partsOf (cursor: string): unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : undefined
  } catch {
    return undefined
  }
}
