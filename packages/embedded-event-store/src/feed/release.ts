// Releases of EventStoreDB whose subscriptions differ. Tests try consumers on all of them.

/**
 * - `24.10`: 24.10.5 and later.
 * - `24.10.4`: the checkpoint at the end of a catch-up is the last event that was sent, or where it began:
 *   2^64-1 when that was the start. Later ones tell how far they looked.
 * - `23.10`: no checkpoint at the end of a catch-up; a stream that is missing is caught up with only after its first
 *   events; a consumer that stands still while others write is dropped.
 */
export type Release = '24.10' | '24.10.4' | '23.10'
