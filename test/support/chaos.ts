// What chaos tests share: how much they do, and choices that a seed repeats.
export { amount, type Chaos, chaos, type Choices, choices, isInFull, seedOf } from '@ringledger/embedded-postgres/testing'
