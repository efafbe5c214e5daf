// Properties of fast-check: the same seed in every `npm test`, a new one each time when tests run at length.
import fc from 'fast-check'
import { seedOf } from '@ringledger/embedded-postgres/testing'

fc.configureGlobal({ seed: seedOf('FUZZ_SEED') })

export { fc }
