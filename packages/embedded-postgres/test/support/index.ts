// The entry for tests: databases and clusters that are gone with the test, free ports, and how tests wait, kill and
// choose.
export { freePort } from './free-port.js'
export { type Chaos, chaos, runs, seedOf } from './chaos.js'
export { type Choices, choices } from './choices.js'
export { eventually } from './eventually.js'
export { identify } from '../../src/process-identity.js'
export { killAll } from './kill-all.js'
export { say, signalled } from './main-program.js'
export { clusterData, madeDataVariable } from './cluster-data.js'
export { postgresCluster, type ClusterOptions, type PostgresCluster } from './postgres-cluster.js'
export { scratchPostgres } from './scratch-postgres.js'
export { seeded } from './seeded.js'
export { type ScratchPostgres, sessionsOf } from './sessions.js'
export {
  bareNode, copiesOf, gone, listenTo, openDirectory, type SaidOf, type TalkingProcess
} from './talking-process.js'
export type { Teardown } from './teardown.js'
