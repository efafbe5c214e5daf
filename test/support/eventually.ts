// Waits for a condition instead of sleeping.
export { eventually } from '@ringledger/embedded-postgres/testing'
