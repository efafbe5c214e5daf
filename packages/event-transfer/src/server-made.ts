// Tells which events a server may have written by itself, so that they are compared by what they say.
import { describedBy, isTombstone, type Recorded } from './recorded.js'

/**
 * A tombstone is the answer to a request. An append to a soft-deleted stream or to its metadata adds a `$metadata`
 * event with `$tb`, which brings the stream back. Both have ids of the server's own: the same is what says the same.
 */
export function mayBeServerMade (event: Recorded): boolean {
  if (isTombstone(event)) return true
  if (describedBy(event.stream) === undefined) return false
  const metadata = parsed(event.data)
  return typeof metadata === 'object' && metadata !== null && '$tb' in metadata && metadata.$tb !== softDelete
}

/** `$tb` of a delete is int64's maximum, which JSON.parse rounds up to 2^63. */
const softDelete = 2 ** 63

/** The value of a JSON text, or undefined when the text is no JSON. */
export function parsed (bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
