// The entry of the package: a Postgres under a directory, and where its cluster lies.
export { startPostgres, type EmbeddedPostgres, type PostgresRequest } from './postgres.js'
export { freePort, listenOnce } from './free-port.js'
export { findCluster, removeDataDir, STATE_DIR } from './cluster/paths.js'
