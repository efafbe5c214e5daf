// The entry for those who keep the log elsewhere, or fill its table by themselves, as benchmarks do.
export { metastreamOf, type RecordedEvent } from './event.js'
export type { PageSize } from './pages.js'
export { createSchema } from './schema.js'
export { postgresStorage, type Storage } from './storage.js'
export { afterEvent, afterMetadata, type StreamState, untouched } from './stream-state.js'
export { type Direction, EventTable } from './table.js'
