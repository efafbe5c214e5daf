// The entry for tests: databases and clusters that are gone with the test, free ports, and how tests wait, kill and
// choose.
export { freePort } from './free-port.js'
export { type Chaos, chaos, type Choices, choices, runs, seeded, seedOf } from './chaos.js'
export { eventually } from './eventually.js'
export { identify } from '../../src/lock.js'
export { say, signalled } from './main-program.js'
export {
  clusterData, madeDataVariable, postgresCluster, scratchPostgres, type ClusterOptions, type PostgresCluster
} from './postgres-cluster.js'
export { type ScratchPostgres, sessionsOf } from './sessions.js'
export {
  bareNode, copiesOf, gone, killAll, listenTo, openDirectory, type SaidOf, type TalkingProcess
} from './talking-process.js'
export type { Teardown } from './teardown.js'
