// The entry for tests: a server that is gone with the test, in this process or in one that can be killed.
export { type CompletedScavenge, scavenge } from './scavenge.js'
export { eventStoreEntry, eventStoreProcess, type EventStoreProcess } from './event-store-process.js'
export {
  collect, connect, refused, type ScratchEventStore, scratchEventStore, unbatched
} from './scratch-event-store.js'
