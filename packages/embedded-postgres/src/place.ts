// The entry for those who only look where a cluster lies: it loads nothing that runs one.
export { findCluster } from './cluster/paths.js'
