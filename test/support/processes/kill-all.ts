// kill -9 of several processes, some of which end because others did.
export { killAll } from '@ringledger/embedded-postgres/testing'
