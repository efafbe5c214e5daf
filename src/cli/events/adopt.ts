// `ringledger events adopt`: makes the subscriptions follow a log that was moved, or that has lost its end.
import { printJson, say } from '../output.js'
import { withConnections } from '../running.js'

export async function adoptEvents ({ json }: { json?: boolean }): Promise<void> {
  const { head, problem } = await withConnections('ringledger events adopt', async ({ pool, streams }) => {
    const { adoptLog } = await import('../../recovery/adopt-log.js')
    return await adoptLog(pool, streams)
  })
  if (json) return printJson({ head: String(head), problem: problem ?? null })
  say(`The consumers follow this log now, which ends at position ${head}. ` +
    'The read models are rebuilt at the next start.')
  if (problem !== undefined) say(problem)
}
