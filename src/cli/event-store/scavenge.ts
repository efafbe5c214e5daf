// `ringledger event-store scavenge`: removes for good what nobody can read any more.
import { printJson } from '../output.js'

export async function scavenge ({ json }: { json?: boolean }): Promise<void> {
  const [{ operate }, { scavengeNow }] = await Promise.all([import('../shutdown.js'), import('./scavenge-now.js')])
  const { scavengeId, events, bytes } = await operate('stopped: the event store goes on by itself', scavengeNow)
  if (json) return printJson({ scavenge_id: scavengeId, events, bytes })
  process.stdout.write(`Removed ${events} events with ${bytes} bytes of data and metadata.\n`)
}
