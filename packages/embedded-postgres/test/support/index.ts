// The entry for tests: databases and clusters that are gone with the test, free ports, and how tests wait, kill and
// choose.
export { type Chaos, chaos, type Choices, choices, runs, seeded, seedOf } from './chaos.js'
export { eventually } from './eventually.js'
export { identify } from '../../src/lock.js'
export { say, signalled } from './main-program.js'
export {
  clusterData, closedPort, freePort, madeDataVariable, postgresCluster, scratchPostgres, sessionsOf,
  type PostgresCluster, type ScratchPostgres
} from './postgres-cluster.js'
export {
  bareNode, copiesOf, gone, killAll, listenTo, openDirectory, type SaidOf, type TalkingProcess, type Teardown
} from './talking-process.js'
