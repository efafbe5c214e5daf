// Tells which events a server writes by itself when others are written, so that they are not written twice.
import { describedBy, isTombstone, type Recorded } from './recorded.js'

/**
 * A tombstone is the answer to a request. An append to a soft-deleted stream or to its metadata adds a `$metadata`
 * event that brings the stream back. Both have ids of the server's own: they are the same when they say the same.
 */
export class ServerMade {
  readonly #softDeleted: Set<string>
  readonly #broughtBack: Set<string>

  constructor (softDeleted: Iterable<string> = [], broughtBack: Iterable<string> = []) {
    this.#softDeleted = new Set(softDeleted)
    this.#broughtBack = new Set(broughtBack)
  }

  /** Whether the server writes this event, the next one in the log, by itself. */
  includes (event: Recorded): boolean {
    const described = describedBy(event.stream)
    return isTombstone(event) || (described !== undefined && this.#broughtBack.has(described))
  }

  /** Whether the server adds an event of its own: only when this one is appended after the delete, not with it. */
  bringsBack ({ stream }: Recorded): boolean {
    return this.#softDeleted.has(describedBy(stream) ?? stream)
  }

  /** Goes on to what follows this event. */
  pass (event: Recorded): void {
    const described = describedBy(event.stream)
    if (described === undefined) {
      if (this.#softDeleted.delete(event.stream) && !isTombstone(event)) this.#broughtBack.add(event.stream)
      return
    }
    this.#broughtBack.delete(described)
    const metadata = parsed(event.data)
    if (isSoftDelete(metadata)) this.#softDeleted.add(described)
    else if (this.#softDeleted.delete(described) && isObject(metadata)) this.#broughtBack.add(described)
  }

  copy (): ServerMade {
    return new ServerMade(this.#softDeleted, this.#broughtBack)
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null

/** `$tb` is int64's maximum, which JSON.parse rounds up to 2^63. */
function isSoftDelete (metadata: unknown): boolean {
  return typeof metadata === 'object' && metadata !== null && '$tb' in metadata && metadata.$tb === 2 ** 63
}

/** The value of a JSON text, or undefined when the text is no JSON. */
export function parsed (bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
