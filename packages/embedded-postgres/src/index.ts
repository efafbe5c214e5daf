// Entry point: runs a Postgres under a directory, and finds its cluster.
export { freePort, listenOnce, startPostgres, type EmbeddedPostgres } from './postgres.js'
export { findCluster, removeDataDir, STATE_DIR } from './place.js'
