// The shapes in which events leave the domain and come back from the log.

/** An event that a decider produced; `data` uses the field names of the API. */
export interface NewEvent {
  type: string
  data: object
}

/** An event as the log holds it. `position` is its place in $all, `revision` its place in its stream. */
export interface StoredEvent {
  id: string
  stream: string
  revision: bigint
  position: bigint
  type: string
  data: unknown
  metadata: Record<string, string>
  created: Date
}
