// What is appended, and where it ended.

/** One event to append; `id` is a UUID that stays the same when the append is tried again. */
export interface Proposed {
  id: string
  type: string
  data: object
  metadata: Record<string, string>
  /** Whose persons the data names, where it does not say so itself. Not appended. */
  ofUser?: string | undefined
}

/** Where an append ended: the revision of its last event and that event's position in $all. */
export interface Appended {
  revision: bigint
  position: bigint
}
