// The entry for tests: databases and clusters that are gone with the test, and free ports.
export { freePort } from '../free-port.js'
export { postgresCluster, type ClusterOptions, type PostgresCluster } from './postgres-cluster.js'
export { scratchPostgres } from './scratch-postgres.js'
export { type ScratchPostgres, sessionsOf } from './sessions.js'
export type { Teardown } from './teardown.js'
