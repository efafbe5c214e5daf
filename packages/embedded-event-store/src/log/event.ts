// The words of the log: an event as proposed, as recorded, and the revision that ends a stream.

export interface ProposedEvent {
  /** Lower-case hyphenated UUID. */
  id: string
  type: string
  isJson: boolean
  data: Uint8Array
  metadata: Uint8Array
}

/** The place of an event in its stream. */
export interface StreamPlace { stream: string, revision: number }

/** The id of an event, and its place in the log. */
export interface Identified { id: string, position: number }

export interface RecordedEvent extends ProposedEvent {
  /** Place in the log: 1 and up, in the order in which events became visible. */
  position: number
  stream: string
  /** Place in the stream: 0 and up without gaps, or `tombstoneRevision`. */
  revision: number
  /** Unix milliseconds. */
  created: number
  /** How many bytes of data and metadata, where that is known without a look at them. */
  readonly size?: number
  /** Where it was read for one reader alone: it is sent from there, and what is sent is not kept. */
  readonly row?: RowOfEvent
  /** The event as the protocol sends it. It is encoded once, for all subscribers. */
  encoded?: Buffer
}

/** The bytes of an event in the form of Postgres. Type, metadata and data stand behind four bytes with their length. */
export interface RowOfEvent {
  readonly bytes: Buffer
  readonly id: number
  readonly stream: number
  readonly streamEnd: number
  readonly typeEnd: number
  readonly metadataEnd: number
  readonly end: number
}

/** Stands for int64's maximum, which no JavaScript number holds: the revision of `$streamDeleted`. */
export const tombstoneRevision = Number.MAX_SAFE_INTEGER
export const int64Max = 2n ** 63n - 1n

/** The stream that holds the metadata of `stream`. */
export const metastreamOf = (stream: string) => `$$${stream}`

/** The stream that `stream` holds the metadata of, if it is such a stream. */
export const describedBy = (stream: string) => stream.startsWith('$$') ? stream.slice(2) : undefined

export type Direction = 'forward' | 'backward'

/** from <= key <= to, in that direction. */
export interface Range { direction: Direction, from: number, to: number }

/** The most that one page may hold: so many events, or so many bytes of them, but always one event. */
export interface PageSize { events: number, bytes: number }

/** What an event takes besides its data and metadata, in bytes. */
export const overhead = 512

/** About how many bytes of memory an event takes. */
export function weightOf (event: ProposedEvent & { readonly size?: number }): number {
  return overhead + (event.size ?? event.data.length + event.metadata.length)
}
