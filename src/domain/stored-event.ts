// The shape in which events come back from the log.

/** An event as the log holds it. `position` is where it is in $all, `revision` its number in its stream. */
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
