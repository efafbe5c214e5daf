// Entry point for programs that bring their own storage or fill the table themselves, such as benchmarks.
export { metastreamOf, type Direction, type PageSize, type RecordedEvent } from './event.js'
export { createSchema, postgresStorage, type Storage } from './session.js'
export { afterEvent, afterMetadata, type StreamState, untouched } from './stream-state.js'
export { EventTable } from './table.js'
