// What a test file gets as `tap`: a test of its own, since one process runs several files. The build sees to it.
import tap, { type Test } from 'tap'
export * from 'tap'

let own: Test = tap
export { own as default }

/** From here on, files that are imported say what they test to `test`. */
export function setOwnTest (test: Test): void {
  own = test
}
