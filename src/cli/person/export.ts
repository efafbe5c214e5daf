// `ringledger person export`: a copy of what is known of a person, as their user would ask for it.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { withConnections } from '../running/with-connections.js'
import { personNamed } from './named.js'

export function register (person: Command): void {
  person.command('export')
    .argument('<phone>', 'the phone number, in E.164 format')
    .requiredOption('--user <id>', 'whose leads, contacts, calls, deliveries and do-not-call entry')
    .description('print a copy of what is known of a person: one JSON document on stdout')
    .action(exportPerson)
}

async function exportPerson (phoneNumber: string, { user: userId }: { user: string }): Promise<void> {
  const person = await personNamed(phoneNumber, userId)
  const [{ readSettings }, { completeConfig }, { exportNow }] = await Promise.all([
    import('../read-settings.js'), import('../running/complete-config.js'), import('./export-now.js')
  ])
  await withConnections('ringledger person export', async (connections, log) => {
    const config = await completeConfig(readSettings())
    const text = exportNow({ config, connections, log }, person)
    await pipeline(Readable.from(text), process.stdout, { end: false })
  })
}
