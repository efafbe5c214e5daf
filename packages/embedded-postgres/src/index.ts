// The entry of the package: a Postgres under a directory, and where its cluster lies.
export { freePort, listenOnce, startPostgres, type EmbeddedPostgres } from './postgres.js'
export { findCluster, removeDataDir, STATE_DIR } from './place.js'
