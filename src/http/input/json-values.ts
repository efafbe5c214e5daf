// Counts the values of a JSON text without parsing it.

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const space = 0x20

/**
 * Whether `json` holds more than `most` values: the whole, and every object, array and part of them. Of a key that is
 * there twice both values count. Of a text that is no JSON the answer says nothing.
 */
export function hasMoreValues (json: Buffer, most: number): boolean {
  if (json.length <= 2 * most) return false // between two values there is at least a comma or a bracket
  let count = 1
  let isOpened = false
  for (let at = 0; at < json.length && count <= most; at++) {
    const byte = json[at] ?? 0
    if (byte <= space) continue
    if (byte === comma) count++
    else if (isOpened && byte !== closeBracket && byte !== closeBrace) count++ // the first part of what was opened
    isOpened = byte === openBracket || byte === openBrace
    if (byte === quote) at = endOfString(json, at)
  }
  return count > most
}

/** Where the string that begins at `from` has its last quote. */
function endOfString (json: Buffer, from: number): number {
  let at = from + 1
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}
