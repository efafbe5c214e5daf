// Properties of fast-check: the same in every run of `npm test`, others each time when tests run at length.
import fc from 'fast-check'
import { seedOf } from '@ringledger/embedded-postgres/testing'

fc.configureGlobal({ seed: seedOf('FUZZ_SEED') })

export { fc }
