// What chaos tests share: how much they do, and choices that a seed repeats.
export { type Chaos, chaos, type Choices, choices, runs, seedOf } from '@ringledger/embedded-postgres/testing'
