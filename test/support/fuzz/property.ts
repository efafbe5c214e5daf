// Properties of fast-check: the same seed in every `npm test`, a new one each time when tests run at length.
import fc from 'fast-check'
import { seedOf } from '@ringledger/embedded-postgres/testing'

fc.configureGlobal({ seed: seedOf('FUZZ_SEED') })

/** Any character. The `binary` of fast-check first makes a map of all 1,100,000, which takes a second. */
export const character = fc.nat(0x10f7ff).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))

/** Any text, also the names that objects have of their own. */
export const anyText = ({ maxLength }: { maxLength?: number } = {}): fc.Arbitrary<string> => fc.oneof(
  { weight: 15, arbitrary: fc.string({ unit: character, ...(maxLength !== undefined && { maxLength }) }) },
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'))

export { fc }
