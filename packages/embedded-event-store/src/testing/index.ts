// The entry for tests: a server that is gone with the test, in this process or in one that can be killed.
export { eventStoreEntry, eventStoreProcess, type EventStoreProcess } from './event-store-process.js'
export { collect, connect, refused, scratchEventStore, unbatched, type ScratchEventStore } from './scratch-event-store.js'
