// `ringledger events adopt`: tells the consumers that the log was moved, or has lost its end.
import { adoptLog } from '../recovery/adopt-log.js'
import { say, withConnections } from './running/back-ends.js'

export async function adoptEvents (): Promise<void> {
  const { head, problem } = await withConnections('ringledger events adopt', ({ pool, streams }) => adoptLog(pool, streams))
  say(`The consumers follow this log now, which ends at position ${head}. The read models are rebuilt at the next start.`)
  if (problem !== undefined) say(problem)
}
