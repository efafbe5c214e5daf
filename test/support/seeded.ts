// Random numbers that a seed repeats.
export { seeded } from '@ringledger/embedded-postgres/testing'
