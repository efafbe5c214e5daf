// An event as it travels: the very bytes that were written, and where they stand.

export interface Recorded {
  stream: string
  /** `tombstoneRevision` for the event that ends a stream. */
  revision: bigint
  id: string
  type: string
  /** `application/json`, or something else for binary data. */
  contentType: string
  data: Uint8Array
  metadata: Uint8Array
  /** Unix ms; the store that takes it over writes its own. */
  created: number
  /** Place in the log that it was read from; grows, but not by one. */
  position: bigint
}

export const tombstoneRevision = 2n ** 63n - 1n
export const isTombstone = ({ revision }: Recorded) => revision === tombstoneRevision

/** The stream whose metadata `stream` holds, if it is such a stream. */
export const describedBy = (stream: string) => stream.startsWith('$$') ? stream.slice(2) : undefined

/** Streams of the server itself (`$…`, also their metadata) stay behind: each server writes its own. */
export const isOfServer = ({ stream }: Recorded) => (describedBy(stream) ?? stream).startsWith('$')
