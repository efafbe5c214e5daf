// Properties of fast-check: the same in every run of `npm test`, others each time when tests run at length.
import fc from 'fast-check'
import { seedOf } from '../chaos.js'

fc.configureGlobal({ seed: seedOf('FUZZ_SEED') })

export { fc }
