// Types of the log: proposed and recorded events, places in streams and ranges.

export interface ProposedEvent {
  /** Lower-case hyphenated UUID. */
  id: string
  type: string
  isJson: boolean
  data: Uint8Array
  metadata: Uint8Array
}

export interface StreamPlace { stream: string, revision: number }

export interface Identified { id: string, position: number }

export interface RecordedEvent extends ProposedEvent {
  /** Position in the log: 1 and up, in the order in which events became visible. */
  position: number
  stream: string
  /** 0 and up without gaps, or `tombstoneRevision`. */
  revision: number
  /** Unix milliseconds. */
  created: number
  /** Bytes of data and metadata, if known without decoding them. */
  readonly size?: number
  /** Set on an event that was read for one reader only: it is sent straight from these bytes and not cached. */
  readonly row?: RowOfEvent
  /** Cached protocol message: encoded once for all subscribers. */
  encoded?: Buffer
}

/** An event's bytes in Postgres' row format. Type, metadata and data each follow four bytes with their length. */
export interface RowOfEvent {
  readonly bytes: Buffer
  readonly id: number
  readonly stream: number
  readonly streamEnd: number
  readonly typeEnd: number
  readonly metadataEnd: number
  readonly end: number
}

/** Represents int64's maximum, which no JavaScript number holds: the revision of `$streamDeleted`. */
export const tombstoneRevision = Number.MAX_SAFE_INTEGER
export const int64Max = 2n ** 63n - 1n

export const metastreamOf = (stream: string) => `$$${stream}`

/** The stream whose metadata `stream` holds, if it is a metadata stream. */
export const describedBy = (stream: string) => stream.startsWith('$$') ? stream.slice(2) : undefined

export type Direction = 'forward' | 'backward'

/** from <= key <= to, read in that direction. */
export interface Range { direction: Direction, from: number, to: number }

/** Limits of a page, in events and bytes; a page always holds at least one event. */
export interface PageSize { events: number, bytes: number }

/** Memory of an event besides data and metadata, in bytes. */
export const overhead = 512

/** Approximate memory of an event, in bytes. */
export function weightOf (event: ProposedEvent & { readonly size?: number }): number {
  return overhead + (event.size ?? event.data.length + event.metadata.length)
}
