// Errors whose message says what an operator has to do.
import type { Projection, Refused } from './projection.js'

/** The operation does not go on as things are; the message says why and what to run. */
export class ReplayRefused extends Error {
  override readonly name = 'ReplayRefused'
}

/** What the operation works on failed; nothing is lost by that. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

/** Somebody has to decide about an event before the log can be folded past it. */
export function cannotProject (
  { name }: Projection, { stream, revision }: Refused['stored'], problem: string
): ReplayRefused {
  return new ReplayRefused(`${name} cannot be rebuilt past ${stream}@${revision}: ${problem}
Readers see what they saw. Either the code learns to read the event, or it is given up, for this and every later rebuild:
  ringledger projections quarantine skip ${name} ${stream} ${revision} --reason '…'
Then run the same command again: it goes on where it stands.`)
}
