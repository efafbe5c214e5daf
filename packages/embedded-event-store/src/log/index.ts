// The entry for programs that keep the log elsewhere or fill its table themselves, such as benchmarks.
export { metastreamOf, type RecordedEvent } from './event.js'
export type { Direction, PageSize } from './range.js'
export { createSchema } from './table/schema.js'
export { Removals } from './table/removals.js'
export { postgresStorage, type Storage } from './table/storage.js'
export { afterEvent, afterMetadata, type StreamState, untouched } from './stream-state.js'
export { EventTable } from './table/table.js'
