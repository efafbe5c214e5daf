// `ringledger events adopt`: makes the subscriptions follow a log that was moved, or that has lost its end.
import type { Command } from 'commander'
import { printJson, say } from '../running/output.js'
import { withConnections } from '../running/with-connections.js'

export function register (events: Command): void {
  events.command('adopt')
    .description('with every role stopped: make the consumers follow a log that was moved, ' +
      'or that is older than what they have read')
    .option('--json', 'for programs')
    .action(adoptEvents)
}

async function adoptEvents ({ json }: { json?: boolean }): Promise<void> {
  const { head, problem } = await withConnections('ringledger events adopt', async ({ pool, streams }) => {
    const { adoptLog } = await import('../../recovery/adopt-log.js')
    return await adoptLog(pool, streams)
  })
  if (json) return printJson({ head: String(head), problem: problem ?? null })
  say(`The consumers follow this log now, which ends at position ${head}. ` +
    'The read models are rebuilt at the next start.')
  if (problem !== undefined) say(problem)
}
