// The timestamp format of the interface.

/** `2026-01-31T12:00:00.000Z` as `2026-01-31 12:00:00`: UTC, seconds cut off. */
export function spacedTime (instant: string): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ')
}
