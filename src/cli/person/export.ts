// `ringledger person export`: a copy of what is known of a person, as their user would ask for it.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { withConnections } from '../running/with-connections.js'

export function register (person: Command): void {
  person.command('export')
    .argument('<phone>', 'the phone number, in E.164 format')
    .requiredOption('--user <id>', 'whose leads, contacts, calls, deliveries and do-not-call entry')
    .description('print a copy of what is known of a person: one JSON document on stdout')
    .action(exportPerson)
}

async function exportPerson (phoneNumber: string, { user: userId }: { user: string }): Promise<void> {
  const [{ isSubject }, { isPhoneNumber, notE164 }] = await Promise.all([
    import('../../http/auth/subject.js'), import('../../domain/json.js')
  ])
  if (!isPhoneNumber(phoneNumber)) throw new Error(`<phone> ${notE164}`)
  if (!isSubject(userId)) throw new Error('--user must be 1 to 128 printable characters')
  const [{ readSettings }, { completeConfig }, { exportNow }] = await Promise.all([
    import('../read-settings.js'), import('../running/complete-config.js'), import('./export-now.js')
  ])
  await withConnections('ringledger person export', async (connections, log) => {
    const config = await completeConfig(readSettings())
    const text = exportNow({ config, connections, log }, { userId, phoneNumber })
    await pipeline(Readable.from(text), process.stdout, { end: false })
  })
}
