// `ringledger event-store scavenge`: removes for good what nobody can read any more.
import type { Command } from 'commander'
import { printJson } from '../running/output.js'

export function register (eventStore: Command): void {
  eventStore.command('scavenge')
    .description('remove for good what deletes, $tb and newer metadata hide, from the embedded event store')
    .option('--json', 'for programs')
    .action(scavenge)
}

async function scavenge ({ json }: { json?: boolean }): Promise<void> {
  const [{ operate }, { scavengeNow }] = await Promise.all([import('../running/operation.js'), import('./scavenge-now.js')])
  const { scavengeId, events, bytes } = await operate('stopped: the event store goes on by itself', scavengeNow)
  if (json) return printJson({ scavenge_id: scavengeId, events, bytes })
  process.stdout.write(`Removed ${events} events with ${bytes} bytes of data and metadata.\n`)
}
