// Texts as a Postgres array in its binary form: nothing in them has to be escaped, and they are copied once.

/** `text[]` or, with the other element type, `json[]`; to be sent as a parameter. */
export function textArray (texts: ReadonlyArray<string | null>, element: 'text' | 'json'): Buffer {
  let bytes = headBytes
  for (const text of texts) bytes += 4 + (text === null ? 0 : Buffer.byteLength(text))
  const array = Buffer.allocUnsafe(bytes)
  const hasNulls = texts.includes(null) ? 1 : 0
  const head = [1, hasNulls, oids[element], texts.length, 1] // dimensions, nulls, type, length, first index
  let at = 0
  for (const field of head) at = array.writeInt32BE(field, at)
  for (const text of texts) {
    const length = text === null ? -1 : array.write(text, at + 4)
    array.writeInt32BE(length, at)
    at += 4 + Math.max(0, length)
  }
  return array
}

const headBytes = 20
/** https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const oids = { text: 25, json: 114 }
