// What three short lists are filtered by.
/** What is the user's own of the catalogue, and of the do-not-call list. */
export interface OwnFilter {
  userId: string
  /** Words of a campaign's name, or the beginning of a number with its plus sign. */
  searched?: string | undefined
  /** ISO 8601, included. */
  updatedFrom?: string | undefined
}
